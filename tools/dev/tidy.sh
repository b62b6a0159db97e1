#!/bin/bash
# clang-tidy over our C sources, with the checks of .clang-tidy; a warning is an error.
# Usage: tools/dev/tidy.sh [FOLDER...]        default: all that the dev preset compiles
set -euo pipefail
cd "$(dirname "$0")/../.."
folders=("$@")
[ ${#folders[@]} -gt 0 ] || folders=(transport server client tools examples)
cmake --preset dev >/dev/null
wanted=$(tools/dev/our_sources.sh | grep '\.c$' | grep -E "^($(IFS='|' && echo "${folders[*]%/}"))/" || true)
files=$(for file in $wanted; do grep -q "\"file\": \"$PWD/$file\"" build/dev/compile_commands.json && echo "$file"; done || true)
[ -n "$files" ] || { echo "tidy: nothing to look at in ${folders[*]}" >&2; exit 1; }
echo "$files" | xargs -P "$(nproc)" -n 2 nice -n 5 clang-tidy -p build/dev --quiet
