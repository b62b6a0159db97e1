#!/usr/bin/python3
"""Makes random schemas out of names that hurt and lets protoc-gen-tq loose on them: what it accepts must compile.

Prints the seed of a schema that fails, and leaves it where it says. Usage: random_cases.py PROTOC_GEN_TQ SECONDS [SEED]
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]
WORDS = """a A b foo Foo FOO fooBar foo_bar FooBar Foo_Bar foo_ _foo bar2 B2 int default class delete base Base descriptor init
Init pack unpack size n_a n_foo has_a a_case foo_case not_set _NOT_SET NOT_SET case Case type request response reply channel
opts err call state user done release add Add ops service Service put Put PutCb PutStart PutAnswer PutResponse PutId value key
errno stdin linux unix NULL EOF main uint8_t bool true Message message number_ranges closure Closure id ID method METHOD cb
max_wait_ms assert restrict typeof x y z""".split()
TYPES = "double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes".split()


class Maker:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.messages, self.enums = [], []
        self.is_proto2 = self.dice.random() < 0.3

    def names(self, count):
        return self.dice.sample(WORDS, count)

    def field_type(self):
        kinds = [self.dice.choice(TYPES)]
        if self.messages:
            kinds.append(self.dice.choice(self.messages))
        if self.enums:
            kinds.append(self.dice.choice(self.enums))
        return self.dice.choice(kinds)

    def field(self, name, number, in_oneof):
        if not in_oneof and self.dice.random() < 0.1:
            return f"map<{self.dice.choice(['string', 'uint32', 'bool'])}, {self.field_type()}> {name} = {number};"
        singular = "" if in_oneof or not self.is_proto2 else self.dice.choice(["optional ", "required "])
        label = singular if in_oneof or self.dice.random() < 0.6 else "repeated "
        return f"{label}{self.field_type()} {name} = {number};"

    def message(self, name, scope, depth):
        names = self.names(self.dice.randint(0, 7))
        lines, number = [f"message {name} {{"], 0
        if depth > 0 and self.dice.random() < 0.4:
            lines.append(self.message(self.dice.choice(WORDS), f"{scope}.{name}", depth - 1))
        if self.dice.random() < 0.3:
            lines.append(self.enum(self.dice.choice(WORDS), f"{scope}.{name}"))
        while names:
            members = [names.pop() for _ in range(min(len(names), self.dice.randint(1, 3)))]
            in_oneof = len(names) > 0 and self.dice.random() < 0.5
            if in_oneof:
                lines.append(f"oneof {names.pop()} {{")
            for member in members:
                number += 1
                lines.append(self.field(member, number, in_oneof))
            if in_oneof:
                lines.append("}")
        self.messages.append(f"{scope}.{name}")
        return "\n".join(lines + ["}"])

    def enum(self, name, scope):
        values = self.names(self.dice.randint(1, 4))
        self.enums.append(f"{scope}.{name}")
        return f"enum {name} {{ " + " ".join(f"{value} = {i};" for i, value in enumerate(values)) + " }"

    def service(self, name):
        lines = [f"service {name}{self.dice.choice(['', 'Service'])} {{"]
        for method in self.names(self.dice.randint(1, 5)):
            flags = self.dice.choice(["", " bulk: true", " idempotency: IDEMPOTENCY_KEYED"])
            option = f"option (tq.method) = {{ id: {self.dice.randint(1, 1 << 30)}{flags} }};"
            lines.append(f"rpc {method}({self.dice.choice(self.messages)}) returns "
                         f"({self.dice.choice(self.messages)}) {{ {option} }}")
        return "\n".join(lines + ["}"])

    def file(self):
        package = ".".join(self.names(self.dice.randint(1, 2)))
        names = self.names(self.dice.randint(2, 6))
        parts = [f'syntax = "{"proto2" if self.is_proto2 else "proto3"}";', f"package {package};",
                 'import "tq/options.proto";']
        for name in names[1:]:
            scope = f".{package}"
            parts.append(self.enum(name, scope) if self.dice.random() < 0.2 else self.message(name, scope, 2))
        if self.messages:
            parts.append(self.service(names[0]))
        return "\n".join(parts) + "\n"


def compiles(out):
    include = [f"-I{out}", f"-I{ROOT}/transport/include"]
    (out / "use.inc").write_text('#include "random.tq.h"\n')
    for command in (["gcc", "-std=c11", str(out / "random.pb-c.c")], ["gcc", "-std=gnu17", str(out / "random.tq.c")],
                    ["g++", "-x", "c++", "-std=c++17", str(out / "use.inc")]):
        done = subprocess.run([*command, *WARNINGS, *include], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return done.stderr
    return None


def try_seed(plugin, seed, folder):
    out = folder / "out"
    out.mkdir()
    (folder / "random.proto").write_text(Maker(seed).file())
    done = subprocess.run(["protoc", f"--plugin=protoc-gen-tq={plugin}", f"--tq_out={out}", f"-I{folder}",
                           f"-I{ROOT}/idl", "random.proto"], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return "compiled", compiles(out)
    if "--tq_out: " not in done.stderr:
        return "no schema", None
    return "refused", None if "--tq_out: random.proto:" in done.stderr else f"refused without a place: {done.stderr}"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    plugin, end = os.path.abspath(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    seed, counts = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 40), {}
    print(f"first seed {seed}")
    while time.monotonic() < end:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tq-random-"))
        kind, wrong = try_seed(plugin, seed, folder)
        if wrong:
            print(f"seed {seed}: {folder}/random.proto: {wrong}")
            return 1
        shutil.rmtree(folder)
        counts[kind] = counts.get(kind, 0) + 1
        seed += 1
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 0 if counts.get("compiled") and counts.get("refused") else 1


if __name__ == "__main__":
    sys.exit(main())
