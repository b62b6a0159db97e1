#!/bin/bash
# Writes gen/ from idl/: nanopb for the wire headers, protoc-gen-tq for the services.
# Usage: tools/gen.sh [OUT_DIR]           OUT_DIR: default gen/ of this checkout
# PROTOC_GEN_TQ names the plugin; without it the plugin of this checkout is built in a temporary folder first.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/gen}"
out=$(cd "${1:-$root/gen}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/wire" "$work/v1" "$work/fuzz"

plugin=${PROTOC_GEN_TQ:-}
if [ -z "$plugin" ]; then
    "$root/tools/protoc-gen-tq/build.sh" "$work/plugin"
    plugin=$work/plugin/protoc-gen-tq
fi

cd "$root/idl" # protoc-gen-nanopb looks for the .options files from here

protoc -I. --nanopb_opt=--error-on-unmatched --nanopb_out="$work/wire" tq/wire/*.proto
# A string, bytes or repeated field without a bound silently becomes a callback.
if grep -n pb_callback_t -r "$work/wire"; then
    echo "gen.sh: unbounded fields in idl/tq/wire: add a size to the .options file" >&2
    exit 1
fi

if compgen -G 'tq/v1/*.proto' >"$work/list"; then
    mapfile -t protos < <(sort "$work/list")
    protoc -I. --plugin=protoc-gen-tq="$plugin" --tq_out="$work/v1" "${protos[@]}"
    protoc -I. --plugin=protoc-gen-tq="$plugin" --tq_out=only_fuzz=1:"$work/fuzz" "${protos[@]}"
fi

{
    echo "protoc $(protoc --version | cut -d' ' -f2)"
    echo "protoc-gen-c $(protoc-c --version | sed -n 's/^protobuf-c //p')"
    echo "nanopb $(nanopb_generator.py --version | sed 's/^nanopb-//')"
    echo "protoc-gen-tq $("$plugin" --version | cut -d' ' -f2)"
} >"$work/VERSIONS"

rm -rf "$out/wire" "$out/v1" "$out/fuzz"
mv "$work/wire" "$work/v1" "$work/fuzz" "$work/VERSIONS" "$out/"
