#!/bin/bash
# Installs the built tree into a folder of its own and builds a small project outside of the tree against it, once with
# CMake and tq_generate(), once with pkg-config and protoc by hand.
# Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cp -r "$here/project" "$work/project"
cmake --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

echo "-- only promised symbols are visible"
for library in tqrpc tqserver tq; do
    file=$(find "$prefix" -name "lib$library.so")
    [ -n "$file" ] || { echo "lib$library.so: is not installed"; exit 1; }
    nm -D --defined-only "$file" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$work/$library.symbols"
    [ -s "$work/$library.symbols" ] || { echo "lib$library.so: shows nothing"; exit 1; }
    if grep -vE '^(tq_|tq__)' "$work/$library.symbols"; then
        echo "lib$library.so: shows symbols that are not ours"
        exit 1
    fi
done
for pair in "tq tqrpc" "tqserver tqrpc" "tq tqserver"; do
    set -- $pair
    if comm -12 "$work/$1.symbols" "$work/$2.symbols" | grep .; then
        echo "lib$1.so and lib$2.so both define what is printed above"
        exit 1
    fi
done

echo "-- CMake: find_package(tq), tq_generate()"
cmake -S "$work/project" -B "$work/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" >"$work/cmake.log" ||
    { cat "$work/cmake.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
timeout 30 "$work/build/greeter"
timeout 30 "$work/build/links"

echo "-- tq_generate(): two files that give one number to two methods are refused"
cmake -S "$here/clash" -B "$work/clash" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" >"$work/clash.log" ||
    { cat "$work/clash.log"; exit 1; }
if cmake --build "$work/clash" >"$work/clash.log" 2>&1; then
    echo "clash: is built"
    exit 1
fi
grep -q 'second.proto.* has id 16385 (0x4001), as has rpc' "$work/clash.log" || { cat "$work/clash.log"; exit 1; }

echo "-- tq_generate(FUZZ): a target for each request and each service"
mkdir "$work/inputs"
printf '\012\002hi\020\003' >"$work/inputs/echo"
for program in greeter_v1_{echo,part}_request_fuzz greeter_v1_{echo,farewell}_dispatch_fuzz; do
    timeout 30 "$work/build/$program" "$work/inputs"
done

echo "-- pkg-config: idldir, cflags, libs"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tqrpc.pc)")
idldir=$(pkg-config --variable=idldir tqrpc)
mkdir "$work/out"
protoc -I"$work/project" -I"$idldir" --plugin=protoc-gen-tq="$(pkg-config --variable=bindir tqrpc)/protoc-gen-tq" \
    --tq_out="$work/out" greeter/v1/echo.proto
# shellcheck disable=SC2046 # flags are words
gcc -std=c17 -I"$work/out" "$work/project/main.c" "$work"/out/greeter/v1/*.c $(pkg-config --cflags --libs tqrpc) \
    -Wl,-rpath,"$(pkg-config --variable=libdir tqrpc)" -o "$work/greeter"
timeout 30 "$work/greeter"
