#!/bin/bash
# One fuzz target, for tools/dev/fuzz.sh, which says how in TQ_FUZZ_MODE and TQ_FUZZ_SECONDS. Prints one line.
# Usage: tools/dev/fuzz_one.sh NAME COMMITTED_CORPUS
set -u
name=$1 committed=$2
program=build/fuzz/fuzz-bin/$name
crashes=build/fuzz-crashes/$name
corpus=build/fuzz-corpus/$name
log=build/fuzz/log-$name-$TQ_FUZZ_MODE.txt
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 UCX_HANDLE_ERRORS=none
mkdir -p "$crashes" "$corpus"
common=(-rss_limit_mb=2048 -timeout=10 -max_len=65536 "-artifact_prefix=$crashes/")

# Reads until the fuzzer has covered more than its first input did; the fuzzer then dies of the closed pipe.
first_new_edge() {
    awk '/INITED cov:/ { split($0, a, "cov: "); first = a[2] + 0; seen = 1 }
         /(NEW|REDUCE|pulse) *cov:/ { split($0, a, "cov: "); if (seen && a[2] + 0 > first) { found = 1; exit } }
         END { exit !found }'
}

if [ ! -x "$program" ]; then
    echo "  $name: FAILED, $program is not built"
    exit 0
fi

if [ "$TQ_FUZZ_MODE" = edges ]; then
    "$program" "${common[@]}" -max_total_time="$TQ_FUZZ_SECONDS" 2>&1 | tee "$log" | first_new_edge
    if [ "${PIPESTATUS[2]}" -eq 0 ]; then
        echo "  $name: ok"
    else
        echo "  $name: FAILED, no new edge in $TQ_FUZZ_SECONDS s from an empty corpus ($log)"
    fi
    exit 0
fi

begin=$(date +%s)
if [ ! -d "$committed" ]; then
    echo "  $name: FAILED, no corpus $committed"
elif "$program" "${common[@]}" -max_total_time="$TQ_FUZZ_SECONDS" -print_final_stats=1 "$corpus" "$committed" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    echo "  $name: ok, ${runs:-?} inputs in $(($(date +%s) - begin)) s"
else
    grep -E 'ERROR|SUMMARY|runtime error|Assertion|^#[0-3] ' "$log" | head -n 12
    echo "  $name: FAILED; repeat with: $program $(find "$crashes" -type f -newer "$program" | head -n 1) (log: $log)"
fi
exit 0
