#!/bin/bash
# Every source check passes on a small good tree and fails on each of the small bad ones.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git init -q .
mkdir -p tools transport/include/tq transport/base transport/rpc server/storage client gen/v1/tq/v1 tests examples/hello
cp -r "$root/tools/dev" tools/dev
cp "$root/.clang-format" .
echo '#include <stdint.h>' >transport/include/tq/status.h
echo 'int tq_rpc_x;' >transport/include/tq/rpc.h
echo 'int tq_base_x;' >transport/base/list.h
echo 'int tq_storage_x;' >server/storage/store.h
echo '#include "tq/rpc.h"' >gen/v1/tq/v1/storage.tq.h

bad=0
# expect pass|fail CHECK FILE TEXT: what CHECK says when FILE holds TEXT.
expect() {
    printf '%b' "$4" >"$3"
    local got=pass
    git add "$3"
    "tools/dev/$2" >log.txt 2>&1 || got=fail
    if [ "$got" != "$1" ]; then
        echo "$2: $got, expected $1, for $3:"
        cat "$3" log.txt
        bad=1
    fi
    git rm -q --cached "$3"
    rm -f "$3"
}

expect pass check_includes.py transport/rpc/call.c '#include "tq/rpc.h"\n#include "transport/base/list.h"\n'
expect pass check_includes.py server/storage/put.c '#include "tq/v1/storage.tq.h"\n#include "transport/base/list.h"\n'
expect pass check_includes.py tests/t.c '#include "server/storage/store.h"\n'
expect fail check_includes.py transport/base/clock.c '#include "tq/rpc.h"\n'
expect fail check_includes.py transport/rpc/call.c '#include "tq/v1/storage.tq.h"\n'
expect fail check_includes.py transport/rpc/call.c '#include "server/storage/store.h"\n'
expect fail check_includes.py client/get.c '#include "server/storage/store.h"\n'
expect fail check_includes.py gen/v1/tq/v1/x.c '#include "transport/base/list.h"\n'
expect fail check_includes.py examples/hello/main.c '#include "transport/base/list.h"\n'
expect fail check_includes.py server/storage/put.c '#include "store.h"\n'
expect fail check_includes.py client/get.c '#include "client/nowhere.h"\n'
expect fail check_includes.py elsewhere.c 'int x;\n'

body=$(printf '    x();\\n%.0s' $(seq 1 80))
expect pass check_lengths.py client/get.c 'int x(void)\n{\n}\n'
expect fail check_lengths.py client/get.c "int x(void)\n{\n$body}\n"
expect fail check_lengths.py client/get.c "$(printf '/* */\\n%.0s' $(seq 1 701))"

expect pass check_calls.py client/get.c '/* never sprintf(x) */\nvoid f(void)\n{\n    g("sprintf(");\n}\n'
expect fail check_calls.py client/get.c 'void f(void)\n{\n    sprintf(x, "");\n}\n'
expect fail check_calls.py client/get.c 'void f(void)\n{\n    exit(1);\n}\n'
expect pass check_calls.py tools/main.c 'void f(void)\n{\n    exit(1);\n}\n'
expect fail check_calls.py tests/t.c 'void f(void)\n{\n    usleep(1);\n}\n'

expect pass check_paths.sh README.txt 'see docs/work/here and /usr/share/dict/words\n'
expect fail check_paths.sh README.txt 'see /wo''rk/main\n'
expect fail check_paths.sh README.txt 'see /ho''me/somebody/x\n'

expect pass check_headers.sh transport/include/tq/good.h 'struct tq_good {\n    int x;\n};\n'
expect fail check_headers.sh transport/include/tq/bad.h 'uint32_t tq_alone(void);\n'
expect fail check_headers.sh transport/include/tq/bad.h 'int tq_delete(int delete);\n'

if command -v clang-format >/dev/null; then
    expect pass check_format.sh client/get.c 'int x;\n'
    expect fail check_format.sh client/get.c 'int   x ;\n'
fi
exit $bad
