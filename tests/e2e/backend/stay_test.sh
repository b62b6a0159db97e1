#!/usr/bin/env bash
# Makes the Python messages in a temporary folder and runs stay_test.py. Usage: stay_test.sh CHECKOUT BUILD
set -euo pipefail
messages=$(mktemp -d)
trap 'rm -rf "$messages"' EXIT
(cd "$1" && protoc -I idl --python_out="$messages" idl/tq/*.proto idl/tq/wire/*.proto idl/tq/v1/*.proto)
timeout 80 /usr/bin/python3 -B "$1/tests/e2e/backend/stay_test.py" "$2" "$messages"
