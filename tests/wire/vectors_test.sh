#!/usr/bin/env bash
# The committed vectors are what the script writes from idl/ today, and the seeds of the corpora are those vectors.
set -euo pipefail
top=$1
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$top/tools/wire/vectors.py" "$top/idl" >"$fresh/vectors.json"
diff -u "$top/docs/wire-vectors.json" "$fresh/vectors.json"

# The Python unit's helper takes every frame apart as we do.
protoc -I "$top/idl" --python_out="$fresh" "$top"/idl/tq/*.proto "$top"/idl/tq/wire/*.proto
PYTHONPATH="$fresh:$top/examples/python_unit" /usr/bin/python3 -B - "$top/docs/wire-vectors.json" <<'PY'
import json
import sys
import tq_wire

rows = [r for r in json.load(open(sys.argv[1]))["vectors"] if r["type"] == "frame"]
assert len(rows) >= 10
for row in rows:
    payload = [b"x" * 38] if row["name"] == "frame with payload" else []
    envelope, body, frames = tq_wire.unpack([bytes.fromhex(row["hex"]), *payload])
    assert (envelope.call_id, len(frames)) == (0xA1B2C3D4E5F60718, len(payload)), row["name"]
    assert tq_wire.unpack([bytes.fromhex(row["hex"]), *payload, b"one too many"]) is None, row["name"]
PY

mkdir "$fresh/corpus"
for target in "$top"/tests/fuzz/corpus/*/; do mkdir "$fresh/corpus/$(basename "$target")"; done
"$top/tools/wire/vectors.py" "$top/idl" --corpus "$fresh/corpus"
seeds=0
for seed in "$fresh"/corpus/*/vector_*; do
    cmp "$seed" "$top/tests/fuzz/corpus/${seed#"$fresh/corpus/"}"
    seeds=$((seeds + 1))
done
[ "$seeds" -ge 50 ]
