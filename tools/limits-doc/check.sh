#!/usr/bin/env bash
# Fails when the committed page of limits is not what the code says. Usage: check.sh PROGRAM PAGE
set -euo pipefail
"$1" | diff -u "$2" - || { echo "docs/limits.md is old: build limits-doc and write its output there"; exit 1; }
