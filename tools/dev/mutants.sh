#!/bin/bash
# `make mutants`: applies each patch of tests/mutants/ alone to a copy of the tree and expects the test that it names to
# fail. Each patch breaks one promise. Prints a table; fails when a mutant survives, does not apply or does not compile.
# Usage: tools/dev/mutants.sh [NAME...]
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
tree=$root/build/mutants/tree
build=$root/build/mutants/build
log=$root/build/mutants/log.txt
tools/dev/setup.sh build test

patches=("$root"/tests/mutants/*.patch)
if [ $# -gt 0 ]; then patches=("${@/#/$root/tests/mutants/}"); patches=("${patches[@]/%/.patch}"); fi
[ -e "${patches[0]}" ] || { echo "mutants: no such patch: ${patches[0]}" >&2; exit 1; }
header() { sed -n "s/^# $1: *//p" "$2" | head -n 1; }

# The copy is made again each time, but unchanged files keep their times, so that little is built again.
mkdir -p "$tree"
git ls-files --cached --others --exclude-standard | while read -r file; do [ -e "$file" ] && echo "$file"; done \
    >"$root/build/mutants/files.txt"
tools/dev/sync_tree.py "$root/build/mutants/files.txt" "$tree"
cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

# Builds what a test needs: its own program, or all programs and test programs when it is a script.
build_for() {
    local target=$1
    if ! ninja -C "$build" -t query "$target" >/dev/null 2>&1; then target=all; fi
    nice -n 5 ninja -C "$build" "$target" programs >>"$log" 2>&1
}
run_test() { (cd "$build" && timeout 300 ctest --no-tests=error -R "^$1\$" >>"$log" 2>&1); }

echo "mutants: the unbroken tree first"
bad=0
for test in $(for patch in "${patches[@]}"; do header test "$patch"; done | sort -u); do
    if ! build_for "$test" || ! run_test "$test"; then
        echo "mutants: $test fails without any mutant (build/mutants/log.txt)" >&2
        bad=1
    fi
done
[ "$bad" -eq 0 ] || exit 1

caught=0
printf '%-42s %-26s %-8s %s\n' mutant test caught 'broken promise'
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch) test=$(header test "$patch") verdict=yes
    if ! patch --directory "$tree" -p1 --forward --batch --no-backup-if-mismatch <"$patch" >>"$log" 2>&1; then
        verdict='NO: does not apply'
    else
        if ! build_for "$test"; then
            verdict='NO: does not compile'
        elif run_test "$test"; then
            verdict=NO
        fi
        tools/dev/sync_tree.py "$root/build/mutants/files.txt" "$tree"
    fi
    printf '%-42s %-26s %-8s %s\n' "$name" "$test" "$verdict" "$(header promise "$patch")"
    if [ "$verdict" = yes ]; then caught=$((caught + 1)); fi
done
echo "$caught of ${#patches[@]} mutants caught"
[ "$caught" -eq ${#patches[@]} ]
