#!/usr/bin/python3
"""Breaks each rule of tools/idl-check once, in a copy of good/, and looks for its name and place in the answer.

A rule without a case here fails the test, and so does an answer that names other rules. Usage: rules_test.py
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CHECK = ROOT / "tools/idl-check/idl_check.py"
STORAGE, TYPES, SPARE = "tq/v1/storage.proto", "tq/v1/types.proto", "tq/extra/spare.proto"

# rule: (file, old text, new text, line that is named or None, further rules that the same change breaks)
LINT = {
    "SYNTAX_PROTO3": (SPARE, 'syntax = "proto3";', 'syntax = "proto2";', 1, []),
    "PACKAGE_DEFINED": (SPARE, "package tq.extra;", "", 1, ["PACKAGE_DIRECTORY_MATCH"]),
    "PACKAGE_LOWER_SNAKE_CASE": (SPARE, "package tq.extra;", "package tq.Extra;", 3, ["PACKAGE_DIRECTORY_MATCH"]),
    "PACKAGE_DIRECTORY_MATCH": (SPARE, "package tq.extra;", "package tq.other;", 3, []),
    "FILE_LOWER_SNAKE_CASE": ("tq/v1/BadName.proto", None, 'syntax = "proto3";\npackage tq.v1;\n', 1, []),
    "IMPORT_NO_PUBLIC": (STORAGE, 'import "tq/v1/types', 'import public "tq/v1/types', 7, []),
    "IMPORT_USED": (STORAGE, "    Samples samples = 3;\n", "", 7, []),
    "MESSAGE_PASCAL_CASE": (TYPES, "message Samples {", "message more_samples {}\nmessage Samples {", 5, []),
    "FIELD_LOWER_SNAKE_CASE": (TYPES, "index = 1;", "Index = 1;", 6, []),
    "FIELD_NOT_OPTIONAL": (TYPES, "index = 1;", "index = 1;\n    optional uint32 maybe = 2;", 7, []),
    "ONEOF_LOWER_SNAKE_CASE": (STORAGE, "oneof choice", "oneof Choice", 21, []),
    "ENUM_PASCAL_CASE": (TYPES, "message Samples {", "enum shade_of { SHADE_OF_UNSPECIFIED = 0; }\nmessage Samples {", 5,
                         []),
    "ENUM_NO_ALLOW_ALIAS": (STORAGE, "SHADE_LIGHT = 2;", "SHADE_LIGHT = 2;\n    option allow_alias = true;\n"
                            "    SHADE_PALE = 2;", 9, []),
    "ENUM_VALUE_UPPER_SNAKE_CASE": (STORAGE, "SHADE_LIGHT = 2;", "SHADE_light = 2;", 12, []),
    "ENUM_VALUE_PREFIX": (STORAGE, "SHADE_LIGHT = 2;", "LIGHT = 2;", 12, []),
    "ENUM_ZERO_VALUE_SUFFIX": (STORAGE, "SHADE_UNSPECIFIED = 0;", "SHADE_NONE = 0;", 10, []),
    "SERVICE_PASCAL_CASE": (STORAGE, "service StorageService", "service storageService", 37, []),
    "SERVICE_SUFFIX": (STORAGE, "service StorageService", "service Storage", 37, []),
    "RPC_PASCAL_CASE": (STORAGE, "rpc Drop(", "rpc drop(", 41,
                        ["RPC_REQUEST_STANDARD_NAME", "RPC_RESPONSE_STANDARD_NAME"]),
    "RPC_NO_STREAMING": (STORAGE, "returns (PutResponse)", "returns (stream PutResponse)", 38, []),
    "RPC_REQUEST_STANDARD_NAME": (STORAGE, "rpc Put(PutRequest)", "rpc Put(PutResponse)", 38, []),
    "RPC_RESPONSE_STANDARD_NAME": (STORAGE, "returns (PutResponse)", "returns (PutRequest)", 38, []),
    "RPC_REQUEST_RESPONSE_UNIQUE": (STORAGE, "rpc Drop(DropRequest)", "rpc Drop(PutRequest)", 41,
                                    ["RPC_REQUEST_STANDARD_NAME"]),
    "RPC_ID_RANGE": (STORAGE, "id: 0x202", "id: 0x302", 41, []),
}
BREAKING = {
    "PACKAGE_NO_DELETE": (SPARE, "package tq.extra;", "package tq.other;", ["MESSAGE_NO_DELETE", "ENUM_NO_DELETE"]),
    "MESSAGE_NO_DELETE": (SPARE, "message Spare {", "message Other {", []),
    "ENUM_NO_DELETE": (SPARE, "enum Tone {", "enum Tones {", []),
    "SERVICE_NO_DELETE": (STORAGE, "service StorageService", "service StoreService", ["METHOD_NO_DELETE"]),
    "FIELD_NO_DELETE": (STORAGE, "    string key = 1;\n", "", []),
    "FIELD_SAME_NAME": (STORAGE, "string key = 1;", "string name = 1;", []),
    "FIELD_SAME_CARDINALITY": (STORAGE, "string key = 1;", "repeated string key = 1;", []),
    "FIELD_SAME_TYPE": (STORAGE, "string key = 1;", "bytes key = 1;", []),
    "FIELD_SAME_ONEOF": (STORAGE, "        string text = 5;\n    }", "    }\n    string text = 5;", []),
    "VALUE_NO_DELETE": (STORAGE, "    SHADE_LIGHT = 2;\n", "", []),
    "VALUE_SAME_NAME": (STORAGE, "SHADE_LIGHT = 2;", "SHADE_PALE = 2;", []),
    "METHOD_NO_DELETE": (STORAGE, "rpc Drop(", "rpc Delete(", []),
    "METHOD_SAME_ID": (STORAGE, "id: 0x202", "id: 0x203", []),
    "METHOD_SAME_REQUEST": (STORAGE, "rpc Drop(DropRequest)", "rpc Drop(PutRequest)", []),
    "METHOD_SAME_RESPONSE": (STORAGE, "returns (DropResponse)", "returns (PutResponse)", []),
    "METHOD_SAME_IDEMPOTENCY": (STORAGE, "IDEMPOTENCY_KEYED", "IDEMPOTENCY_ONCE", []),
    "RESERVED_NO_DELETE": (STORAGE, "    reserved 9;\n", "", []),
    "BOUND_NO_SHRINK": ("tq/v1/types.options", "max_count:16", "max_count:15", []),
}
# Changes that older peers do not notice.
ALLOWED = [
    (STORAGE, "string key = 1;", "string key = 1;\n    uint64 more = 8;"),
    (STORAGE, "SHADE_LIGHT = 2;", "SHADE_LIGHT = 2;\n    SHADE_PALE = 3;"),
    (STORAGE, "    string key = 1;\n", "    reserved 1;\n    reserved \"key\";\n"),
    (STORAGE, "message DropRequest {}", "message DropRequest { bool all = 1; }\nmessage Extra {}"),
    ("tq/v1/types.options", "max_count:16", "max_count:17"),
]


def check(*arguments):
    done = subprocess.run(["/usr/bin/python3", "-B", str(CHECK), *map(str, arguments), "-I", str(ROOT / "idl")],
                          capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(f"idl_check {arguments}: {done.returncode}\n{done.stderr}")
    return done.stdout


def changed_copy(scratch, name, old, new):
    folder = pathlib.Path(scratch) / "idl"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "good", folder)
    file = folder / name
    text = "" if old is None else file.read_text()
    if old is not None and text.count(old) != 1:
        raise SystemExit(f"{name}: '{old}' is there {text.count(old)} times")
    file.write_text(new if old is None else text.replace(old, new))
    return folder


def named_rules(answer, column):
    return {line.split(": ")[column] for line in answer.splitlines()}


def lint_failures(scratch):
    if check("lint", HERE / "good"):
        yield f"good/ breaks a rule: {check('lint', HERE / 'good')}"
    for rule, (name, old, new, line, others) in LINT.items():
        answer = check("lint", changed_copy(scratch, name, old, new))
        if f"{name}:{line}: {rule}: " not in answer or named_rules(answer, 1) != {rule, *others}:
            yield f"{rule}: expected at {name}:{line}, and {others}: {answer or 'nothing found'}"


def breaking_failures(scratch):
    baseline = pathlib.Path(scratch) / "baseline.txt"
    baseline.write_text(check("baseline", HERE / "good"))
    if check("breaking", HERE / "good", baseline):
        yield f"good/ breaks its own baseline: {check('breaking', HERE / 'good', baseline)}"
    for rule, (name, old, new, others) in BREAKING.items():
        answer = check("breaking", changed_copy(scratch, name, old, new), baseline)
        if named_rules(answer, 0) != {rule, *others}:
            yield f"{rule}: expected, and {others}: {answer or 'nothing found'}"
    for name, old, new in ALLOWED:
        answer = check("breaking", changed_copy(scratch, name, old, new), baseline)
        if answer:
            yield f"'{new}' is no break: {answer}"


def main():
    rules = set(subprocess.run(["/usr/bin/python3", "-B", str(CHECK), "rules"], capture_output=True, text=True,
                               check=True).stdout.split())
    failures = [f"{rule}: no case in this test" for rule in sorted(rules - set(LINT) - set(BREAKING))]
    with tempfile.TemporaryDirectory() as scratch:
        failures += [*lint_failures(scratch), *breaking_failures(scratch)]
    print("\n".join(failures + [f"{len(rules)} rules, {len(ALLOWED)} allowed changes, {len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
