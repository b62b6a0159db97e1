#!/bin/bash
# What the guides tell the reader to run exists, and every page is listed. Usage: docs_test.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
bad=0
complain() { echo "$1"; bad=1; }

# Files that the loops of CONTRIBUTING.md name.
for name in $(grep -o 'tools/dev/mutants\.sh  *[a-z_]*' CONTRIBUTING.md | sed 's/.* //'); do
    [ -e "tests/mutants/$name.patch" ] || complain "CONTRIBUTING.md: mutant $name: there is no tests/mutants/$name.patch"
done
for name in $(grep -oE '\b[a-z_0-9]+_fuzz\b' CONTRIBUTING.md | sort -u); do
    grep -qE "tq_fuzz\($name\b" tests/fuzz/CMakeLists.txt || complain "CONTRIBUTING.md: fuzz target $name: there is none"
    [ -d "tests/fuzz/corpus/${name%_fuzz}" ] || complain "CONTRIBUTING.md: fuzz target $name: it has no corpus"
done
for path in $(grep -ohE '\b(tools|tests)/[a-zA-Z_/-]+\.(sh|py)\b' CONTRIBUTING.md | sort -u); do
    [ -x "$path" ] || complain "CONTRIBUTING.md: $path: there is no such program"
done

# Tests that a page names.
for name in $(grep -ohE '`[a-z_0-9]+_test`' docs/*.md | tr -d '`' | sort -u); do
    grep -rqE "tq_test(_script)?\($name\b|^ *$name$" --include=CMakeLists.txt tests || complain "docs: test $name: there is none"
done

for page in docs/*; do
    page=$(basename "$page")
    [ "$page" = README.md ] || grep -qF "\`$page" docs/README.md || complain "docs/README.md: does not list $page"
done
exit "$bad"
