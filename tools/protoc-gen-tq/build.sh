#!/bin/bash
# Builds protoc-gen-tq with nothing but a C compiler, protoc and protoc-gen-c, for tools/gen.sh.
# Usage: build.sh OUT_DIR
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
system=$(pkg-config --variable=prefix protobuf)/include
protoc --c_out="$out" -I"$system" google/protobuf/descriptor.proto google/protobuf/compiler/plugin.proto
protoc --c_out="$out" -I"$root/idl" -I"$system" tq/options.proto
${CC:-cc} -std=gnu17 -O1 -w -D_GNU_SOURCE -I"$root" -I"$root/transport/include" -I"$out" -o "$out/protoc-gen-tq" \
    "$root"/tools/protoc-gen-tq/*.c "$out"/google/protobuf/*.c "$out"/google/protobuf/compiler/*.c "$out"/tq/*.c \
    -lprotobuf-c
