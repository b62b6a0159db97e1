#!/usr/bin/python3
"""Writes seeds for the generated fuzz targets into tests/fuzz/corpus: for each request message one with every field set,
one whose repeated fields are long, one cut off; for each service one request a method behind its number.

The bytes come from Python's protobuf, so that they are not made by the code under test. Existing files with other names
stay. Usage: make_seeds.py            from anywhere; needs protoc and python3-protobuf
"""
import pathlib
import re
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"


def load():
    with tempfile.NamedTemporaryFile() as out:
        protos = sorted(str(path.relative_to(ROOT / "idl")) for path in (ROOT / "idl/tq/v1").glob("*.proto"))
        subprocess.run(["protoc", "--include_imports", "-o", out.name, *protos], cwd=ROOT / "idl", check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return [pool.FindFileByName(name) for name in protos], message_factory.MessageFactory(pool)


def snake(name):
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return words.replace(".", "_").lower()


def value(field, number):
    if field.cpp_type == field.CPPTYPE_STRING:
        text = f"{field.name}{number}"
        return text.encode() if field.type == field.TYPE_BYTES else text
    if field.cpp_type == field.CPPTYPE_ENUM:
        return field.enum_type.values[-1].number
    if field.cpp_type == field.CPPTYPE_BOOL:
        return True
    return number % 127 + 1


def fill(message, entries):
    for field in message.DESCRIPTOR.fields:
        repeated = field.label == field.LABEL_REPEATED
        if field.cpp_type == field.CPPTYPE_MESSAGE:
            if field.message_type.GetOptions().map_entry:
                continue
            for _ in range(entries if repeated else 1):
                fill(getattr(message, field.name).add() if repeated else getattr(message, field.name), entries)
            if not repeated:
                getattr(message, field.name).SetInParent()
        elif repeated:
            getattr(message, field.name).extend(value(field, field.number + i) for i in range(entries))
        else:
            setattr(message, field.name, value(field, field.number))
    return message


def write(target, name, seed):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(seed)


def main():
    files, factory = load()
    for file in files:
        for service in file.services_by_name.values():
            short = re.sub("(?<=.)Service$", "", service.name)
            stem = f"{snake(file.package)}_{snake(short)}_dispatch"
            for index, method in enumerate(service.methods):
                make = factory.GetPrototype(method.input_type)
                full = fill(make(), 2).SerializeToString(deterministic=True)
                long = fill(make(), 9 if len(full) < 200 else 3).SerializeToString(deterministic=True)
                target = snake(method.input_type.full_name)
                write(target, "full", full)
                write(target, "long", long)
                write(target, "cut", full[:len(full) * 2 // 3])
                write(stem, snake(method.name), index.to_bytes(2, "little") + full)


if __name__ == "__main__":
    main()
