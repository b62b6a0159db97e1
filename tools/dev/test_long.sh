#!/bin/bash
# `make test-long`: threads under ASan and under TSan, every fuzz target for 20 s, the fuzzers' own health, the tests labelled long.
set -uo pipefail # no -e: a failed step is counted, and the next one runs
cd "$(dirname "$0")/../.." || exit 1
. tools/dev/tally.sh
tally_open "${TQ_LIMIT_S:-2400}"

step "packages" tools/dev/setup.sh build test || exit
step "build release" tools/dev/build.sh release &&
    suite "long tests" tools/dev/run_ctest.sh release 'long' 1
step "build asan" tools/dev/build.sh asan tests_threads programs &&
    suite "threaded tests, bulk transfers among them, under ASan, UBSan, LSan" tools/dev/run_ctest.sh asan 'threads' 1
step "build tsan" tools/dev/build.sh tsan tests_unit tests_threads programs &&
    suite "unit and threaded tests under TSan" tools/dev/run_ctest.sh tsan 'unit|threads' 2
step "build fuzz" tools/dev/build.sh fuzz tests_fuzz && {
    suite "fuzzers find new edges from nothing" tools/dev/fuzz.sh edges 10
    suite "fuzzing, 20 s a target" tools/dev/fuzz.sh each 20
}
tally_close
