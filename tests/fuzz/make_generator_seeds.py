#!/usr/bin/python3
"""Writes seeds for generator_fuzz into tests/fuzz/corpus/generator: what protoc hands to the plugin for some of the cases
in tests/tools/protoc-gen-tq/cases, without the bulk of descriptor.proto. Usage: make_generator_seeds.py"""
import pathlib
import subprocess
import tempfile

from google.protobuf.compiler import plugin_pb2

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "tests/tools/protoc-gen-tq/cases"
CORPUS = ROOT / "tests/fuzz/corpus/generator"
NAMES = ["minimal", "oneof_counts", "comments", "option_forms", "nested", "maps", "proto2", "recursive_map", "optional",
         "duplicate_id", "clash_case_member", "waits_without_field", "stream_client", "no_package", "several_services"]


def capture(name, scratch):
    plugin = scratch / "capture"
    plugin.write_text(f"#!/bin/sh\ncat >{scratch}/request\nprintf '\\020\\001'\n")
    plugin.chmod(0o755)
    subprocess.run(["protoc", f"--plugin=protoc-gen-capture={plugin}", f"--capture_out=fuzz=1:{scratch}", f"-I{CASES}",
                    f"-I{ROOT}/idl", f"{name}.proto"], check=True)
    return plugin_pb2.CodeGeneratorRequest.FromString((scratch / "request").read_bytes())


def trim(request):
    kept = [file for file in request.proto_file if file.name != "google/protobuf/descriptor.proto"]
    for file in kept:
        if file.name not in request.file_to_generate:
            file.ClearField("source_code_info")
    trimmed = plugin_pb2.CodeGeneratorRequest(file_to_generate=request.file_to_generate, parameter=request.parameter)
    trimmed.proto_file.extend(kept)
    return trimmed


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name in NAMES:
            (CORPUS / name).write_bytes(trim(capture(name, pathlib.Path(scratch))).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
