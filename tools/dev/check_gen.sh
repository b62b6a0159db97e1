#!/bin/bash
# Fails when gen/ is not what tools/gen.sh makes of idl/ now. Usage: check_gen.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$root/tools/gen.sh" "$fresh"
# Written by hand in gen/: the build file and the page that explains the folder.
if ! diff -r -u -x CMakeLists.txt -x README.md "$root/gen" "$fresh" >"$fresh.diff"; then
    head -40 "$fresh.diff"
    rm -f "$fresh.diff"
    echo "check_gen: gen/ is stale or edited: run 'make gen' and commit what it writes" >&2
    exit 1
fi
rm -f "$fresh.diff"
