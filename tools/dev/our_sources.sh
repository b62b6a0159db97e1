#!/bin/bash
# Lists the C files that people wrote: everything that git knows or would add, but gen/ and golden files.
set -euo pipefail
cd "$(dirname "$0")/../.."
git ls-files --cached --others --exclude-standard -- '*.c' '*.h' | grep -vE '^gen/|/golden/|\.pb-c\.|\.tq\.[ch]$' |
    while read -r file; do
        if [ -e "$file" ]; then echo "$file"; fi
    done
