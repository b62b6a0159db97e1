#!/bin/bash
# `make mutants` calls a mutant caught only when its test ran and failed: not when it survives, does not apply, does not
# compile, or when the test fails without it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git init -q .
echo build/ >.gitignore
mkdir -p tools/dev tests/mutants
cp "$root"/tools/dev/{mutants.sh,sync_tree.py} tools/dev/
printf '#!/bin/sh\n' >tools/dev/setup.sh
chmod +x tools/dev/setup.sh
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C)
enable_testing()
add_custom_target(programs)
add_executable(two_test two.c)
add_test(NAME two_test COMMAND two_test)
CMAKE
printf 'int main(void)\n{\n    int two = 2;\n    return two == 2 ? 0 : 1;\n}\n' >two.c

mutant() { # NAME LINE_3_BEFORE LINE_3_AFTER
    printf '# test: two_test\n# promise: two is two\n--- a/two.c\n+++ b/two.c\n@@ -1,5 +1,5 @@\n int main(void)\n {\n-%s\n+%s\n     return two == 2 ? 0 : 1;\n }\n' \
        "$2" "$3" >"tests/mutants/$1.patch"
}
good='    int two = 2;'
mutant broken "$good" '    int two = 3;'
mutant harmless "$good" '    int two = 1 + 1;'
mutant nonsense "$good" '    int two = ;'
mutant stale '    int two = 17;' '    int two = 3;'

bad=0
# expect STATUS PATTERN [NAME...]
expect() {
    local status=0 pattern=$2 wanted=$1
    shift 2
    tools/dev/mutants.sh "$@" >log.txt 2>&1 || status=$?
    if [ "$status" != "$wanted" ] || ! grep -qE "$pattern" log.txt; then
        echo "mutants.sh $*: exit $status, expected $wanted and '$pattern':"
        cat log.txt build/mutants/log.txt
        bad=1
    fi
}
expect 0 '^broken +two_test +yes ' broken
expect 1 '^harmless +two_test +NO ' harmless
expect 1 'does not compile' nonsense
expect 1 'does not apply' stale
expect 1 '^1 of 4 mutants caught'
expect 1 'no such patch' nowhere
sed -i 's/int two = 2/int two = 4/' two.c
expect 1 'fails without any mutant' broken
exit $bad
