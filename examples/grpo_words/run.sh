#!/bin/bash
# Runs the demo from a build folder. Usage: examples/grpo_words/run.sh BUILD [--SETTING=VALUE ...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?usage: run.sh BUILD [--SETTING=VALUE ...]}
shift
exec "$build/bin/grpo_words" run --output="$root/build/demo" "$@"
