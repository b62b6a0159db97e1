#!/bin/bash
# Checks that what we build with is there and new enough; names everything that is not, and what to do.
set -euo pipefail
bad=0

# need NAME FOUND MINIMUM: FOUND is empty when NAME is missing.
need() {
    if [ -z "$2" ]; then
        echo "versions: $1 is missing; at least $3 is needed (tools/dev/setup.sh build test)" >&2
        bad=1
    elif [ "$(printf '%s\n%s\n' "$3" "$2" | sort -V | head -n 1)" != "$3" ]; then
        echo "versions: $1 is $2; at least $3 is needed (Debian 12 has it)" >&2
        bad=1
    fi
}
# The first version number in a command's output; empty when the command fails.
said() { { "$@" 2>&1 || true; } | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true; }
module() { pkg-config --modversion "$1" 2>/dev/null || true; }
packaged() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/^[0-9]*://; s/[-+].*//' || true; }

need gcc "$(said gcc -dumpfullversion)" 12.0
need cmake "$(said cmake --version)" 3.25
need ninja "$(said ninja --version)" 1.10
need protoc "$(said protoc --version)" 3.21
need protoc-c "$(said protoc-c --version)" 1.4.1
need pkg-config "$(said pkg-config --version)" 1.0
need libzmq "$(module libzmq)" 4.3.4
need ucx "$(module ucx)" 1.13
need libprotobuf-c "$(module libprotobuf-c)" 1.4.1
need openssl "$(module openssl)" 3.0
need libisal "$(module libisal)" 2.30
need cmocka "$(module cmocka)" 1.1.5
need jansson "$(module jansson)" 2.13
need nanopb "$(packaged libnanopb-dev)" 0.4.7
need CRoaring "$(packaged libroaring-dev)" 0.2
need python3 "$(said /usr/bin/python3 --version)" 3.9
exit $bad
