#!/bin/bash
# Compares what the plugin writes for two cases with the files of golden/, byte for byte.
# Usage: check_golden.sh PROTOC_GEN_TQ [--update]
set -euo pipefail
plugin=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$here/cases"
protoc --plugin=protoc-gen-tq="$plugin" --tq_out=fuzz=1:"$out" -I. -I"$root/idl" option_forms.proto oneof_sizes.proto
rm -f "$out"/*.pb-c.c # protoc-gen-c's alone
for file in "$out"/*; do mv "$file" "$file.golden"; done # no source files of this repository
if [ "${2:-}" = --update ]; then
    rm -rf "$here/golden"
    cp -r "$out" "$here/golden"
    chmod 755 "$here/golden"
fi
diff -r -u "$here/golden" "$out"
