#!/bin/bash
# `make check`: everything about the source that needs no tests to run.
set -uo pipefail # no -e: a failed check is counted, and the next one runs
cd "$(dirname "$0")/../.." || exit 1
. tools/dev/tally.sh
tally_open "${TQ_LIMIT_S:-600}"

step "packages" tools/dev/setup.sh build test style || exit
check "format" tools/dev/check_format.sh
check "include rule" tools/dev/check_includes.py
check "lengths" tools/dev/check_lengths.py
check "forbidden calls" tools/dev/check_calls.py
check "no paths of one machine" tools/dev/check_paths.sh
check "public headers compile alone" tools/dev/check_headers.sh
check "generated code is what the generators write" tools/dev/check_gen.sh
tally_close
