#!/bin/bash
# `make test`: what a change must pass. At most ten minutes on two cores besides installing packages.
set -uo pipefail # no -e: a failed step is counted, and the next one runs
cd "$(dirname "$0")/../.." || exit 1
. tools/dev/tally.sh
tally_open "${TQ_LIMIT_S:-1200}"

step "packages" tools/dev/setup.sh build test || exit
check "versions" tools/dev/check_versions.sh || exit
step "build release" tools/dev/build.sh release || exit
check "generated code is what the generators write" tools/dev/check_gen.sh
suite "unit, simulation and corpus tests" tools/dev/run_ctest.sh release 'unit|sim|fuzz' 2
suite "end-to-end tests" tools/dev/run_ctest.sh release 'e2e' 1
step "build asan" tools/dev/build.sh asan tests_unit &&
    suite "unit tests under ASan, UBSan, LSan" tools/dev/run_ctest.sh asan 'unit' 2
step "build fuzz" tools/dev/build.sh fuzz tests_fuzz &&
    suite "fuzzing, 60 s in total" tools/dev/fuzz.sh total 60
tally_close
