#!/bin/bash
# Fetches the distribution's sources of the two decoders, so that the fuzz preset can build them instrumented: the
# packaged libraries give a fuzzer no coverage. Nothing of them is committed, and the system's own lists stay as they are.
# Usage: tools/dev/fetch_sources.sh DIR        DIR/{nanopb,protobuf-c}; does nothing when they are there
set -euo pipefail
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ -e "$dir/.complete" ]; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/parts" "$work/src"

# The system's own entries, asked for sources instead of packages. A source that is not Debian's is left out: it
# would only be one more thing that can fail.
shopt -s nullglob
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [ -s "$file" ]; then sed -n '/debian/s/^deb /deb-src /p' "$file" >>"$work/parts/src.list"; fi
done
for file in /etc/apt/sources.list.d/*.sources; do
    if grep -q '^URIs:.*debian' "$file"; then
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/$(basename "$file")"
    fi
done

apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/parts"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache::srcpkgcache=" -o "Dir::Cache::pkgcache="
    -o APT::Sandbox::User=root -o APT::Get::List-Cleanup=0)
if ! { "${apt[@]}" update && cd "$work/src" && "${apt[@]}" source nanopb protobuf-c; } >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    echo "fetch_sources: cannot fetch the sources of nanopb and protobuf-c (package dpkg-dev, network, deb-src)" >&2
    exit 1
fi
rm -rf "$dir/nanopb" "$dir/protobuf-c"
mv "$work"/src/nanopb-*/ "$dir/nanopb"
mv "$work"/src/protobuf-c-*/ "$dir/protobuf-c"
touch "$dir/.complete"
