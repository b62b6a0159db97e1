#!/bin/bash
# Our C files are as clang-format writes them. `make format` mends it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/dev/our_sources.sh | xargs clang-format --dry-run -Werror
