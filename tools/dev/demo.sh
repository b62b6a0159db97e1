#!/bin/bash
# `make demo`: sets up, builds the programs and runs the demo. Arguments go to the demo.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/dev/setup.sh build
tools/dev/check_versions.sh
tools/dev/build.sh release programs
exec examples/grpo_words/run.sh build/release "$@"
