#!/bin/bash
# Configures and builds a preset. Prints a line for every tenth of the way, and whatever the compiler says.
# Usage: tools/dev/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=$1
shift

mkdir -p build
log=build/configure-$preset.log
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
NINJA_STATUS='@%p ' nice -n 5 ninja -C "build/$preset" -j "${TQ_JOBS:-$(nproc)}" "$@" 2>&1 | awk '
    /^@/ {
        match($0, /[0-9]+%/)
        percent = substr($0, RSTART) + 0
        if (percent >= due) { printf "  build %s: %d %%\n", preset, percent; fflush(); due = percent - percent % 10 + 10 }
        next
    }
    !/^ninja: Entering/ { print; fflush() }' preset="$preset"
