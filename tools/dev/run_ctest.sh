#!/bin/bash
# Runs the tests of a built preset that carry one of the labels, prints a line for each, and adds the counts to
# $TQ_TALLY. Only a test that ran and passed is counted as passed: one that was skipped or could not start has failed.
# Usage: tools/dev/run_ctest.sh PRESET LABELS JOBS        LABELS: a regular expression
set -euo pipefail
cd "$(dirname "$0")/../.."
report=$PWD/build/$1/ctest-$(echo "$2" | tr -cd 'a-z0-9').xml
status=0
rm -f "$report"
ctest --test-dir "build/$1" -L "^($2)\$" -j "$3" --no-tests=error --output-on-failure --output-junit "$report" |
    sed -u '/^ *Start /d; /^Internal ctest/d; /^Test project/d; /^Label Time Summary/,/^$/d' || status=$?
[ -e "$report" ] || exit 1
read -r passed failed < <(python3 - "$report" <<'PY'
import sys, xml.etree.ElementTree as tree
cases = tree.parse(sys.argv[1]).getroot().findall('testcase')
passed = sum(case.get('status') == 'run' for case in cases)
for case in cases:
    if case.get('status') not in ('run', 'fail'):
        print(f"{case.get('name')}: {case.get('status')}, counted as failed", file=sys.stderr)
print(passed, len(cases) - passed)
PY
)
echo "$passed $failed" >>"${TQ_TALLY:-/dev/null}"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ]
