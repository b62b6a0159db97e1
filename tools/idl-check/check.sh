#!/bin/bash
# Lints idl/ and compares it with idl/baseline.txt. Usage: check.sh [--accept]
# --accept writes the baseline again: for additions, and for breaks before the first release that has them.
set -euo pipefail
cd "$(dirname "$0")/../.."
check() { /usr/bin/python3 -B tools/idl-check/idl_check.py "$@"; }
check lint idl
if [ "${1:-}" = --accept ]; then
    check baseline idl >idl/baseline.txt
elif ! check breaking idl idl/baseline.txt; then
    echo "idl-check: peers of older versions would not understand this; if no release has it yet:" >&2
    echo "idl-check: tools/idl-check/check.sh --accept, and commit idl/baseline.txt" >&2
    exit 1
fi
