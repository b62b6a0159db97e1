#!/usr/bin/env bash
# The committed vectors are what the script writes from idl/ today, and the seeds of the corpora are those vectors.
set -euo pipefail
top=$1
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$top/tools/wire/vectors.py" "$top/idl" >"$fresh/vectors.json"
diff -u "$top/docs/wire-vectors.json" "$fresh/vectors.json"
"$top/tools/wire/vectors.py" "$top/idl" --corpus "$fresh/corpus"
missing=0
for seed in "$fresh"/corpus/*/vector-*; do
    name=${seed#"$fresh/corpus/"}
    if ! cmp -s "$seed" "$top/tests/wire/seeds/$name"; then
        echo "tests/wire/seeds/$name is missing or differs: run tools/wire/vectors.py idl --corpus tests/wire/seeds"
        missing=1
    fi
done
exit $missing
