#!/bin/bash
# Nothing committed names a folder of the machine it was written on.
set -euo pipefail
cd "$(dirname "$0")/../.."
if git grep -nIE '(^|[^A-Za-z0-9_.])/(work|root|home/[^/ ]+|Users/[^/ ]+)/' -- . ':!tools/dev/check_paths.sh'; then
    echo "check_paths: absolute paths of one machine" >&2
    exit 1
fi
