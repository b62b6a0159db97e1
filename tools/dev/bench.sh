#!/bin/bash
# `make bench`: our figures beside their floors, as tables here and as JSON and pictures in build/bench.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/dev/setup.sh build
tools/dev/check_versions.sh
tools/dev/build.sh release programs
mkdir -p build/bench
failed=0
for table in rpc bulk e2e; do
    timeout 900 build/release/bin/tq-bench "$table" --json "build/bench/$table.json" --plot "build/bench/$table.svg" || failed=1
done
exit $failed
