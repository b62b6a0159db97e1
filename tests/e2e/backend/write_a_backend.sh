#!/usr/bin/env bash
# Follows docs/write-a-backend.md literally: runs every ```sh block of the page, in order, in one shell, in the checkout. BUILD is
# the build folder whose programs stand for build/release of the page.
# Usage: write_a_backend.sh CHECKOUT BUILD
set -euo pipefail
checkout=$1 build=$2
work=$(mktemp -d)
finish() {
    if [ -f "$work/build/python_unit/pids" ]; then
        while read -r pid; do kill "$pid" 2>/dev/null || true; done <"$work/build/python_unit/pids"
    fi
    rm -rf "$work"
}
trap finish EXIT

mkdir -p "$work/build"
ln -s "$checkout/idl" "$checkout/examples" "$work/"
ln -s "$build" "$work/build/release"
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$checkout/docs/write-a-backend.md" >"$work/page.sh"
blocks=$(grep -c '^```sh$' "$checkout/docs/write-a-backend.md")
[ "$blocks" -ge 4 ] || { echo "the page has only $blocks blocks of commands"; exit 1; }

cd "$work"
PYTHONDONTWRITEBYTECODE=1 timeout 60 bash -euo pipefail page.sh | tee page.out
grep -q 'the same bytes came back' page.out
