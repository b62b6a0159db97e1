#!/bin/bash
# Each public header compiles alone, in C11, C17 and C++17, with strict warnings.
set -euo pipefail
cd "$(dirname "$0")/../.."
flags=(-Itransport/include -Iserver/include -Iclient/include -Igen/v1 -fsyntax-only
    -Wall -Wextra -Wpedantic -Wshadow -Werror)
bad=0
alone() { # COMPILER STD LANGUAGE HEADER
    echo "#include \"$4\"" | "$1" "-std=$2" -x "$3" "${flags[@]}" - || {
        echo "check_headers: $4 does not compile alone with $1 -std=$2" >&2
        bad=1
    }
}
while read -r header; do
    name=tq/${header#*/include/tq/}
    alone gcc c11 c "$name"
    alone gcc c17 c "$name"
    alone g++ c++17 c++ "$name"
done < <(git ls-files --cached --others --exclude-standard -- '*/include/tq/*.h')
exit $bad
