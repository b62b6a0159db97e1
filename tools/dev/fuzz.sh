#!/bin/bash
# Runs every fuzz target of the built fuzz preset, two at a time, and counts each as a test.
# Usage: tools/dev/fuzz.sh total S    S seconds shared by all targets, each from its committed corpus
#        tools/dev/fuzz.sh each S     S seconds for each
#        tools/dev/fuzz.sh edges S    from an empty corpus, until a new edge is found; fails when S seconds find none
# New inputs stay in build/fuzz-corpus; an input that breaks a promise in build/fuzz-crashes, with the command to repeat.
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=$1 seconds=$2
list=build/fuzz/fuzz-targets.txt
[ -s "$list" ] || { echo "fuzz: no targets in $list" >&2; exit 1; }
targets=$(wc -l <"$list")
if [ "$mode" = total ]; then
    seconds=$((seconds / targets))
    if [ "$seconds" -lt 1 ]; then seconds=1; fi
fi
export TQ_FUZZ_MODE=$mode TQ_FUZZ_SECONDS=$seconds
results=$(mktemp)
trap 'rm -f "$results"' EXIT
xargs -P "${TQ_JOBS:-$(nproc)}" -n 2 tools/dev/fuzz_one.sh <"$list" | tee "$results"
passed=$(grep -c ': ok' "$results" || true)
echo "$passed $((targets - passed))" >>"${TQ_TALLY:-/dev/null}"
[ "$passed" -eq "$targets" ]
