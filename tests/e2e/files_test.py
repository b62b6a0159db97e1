#!/usr/bin/python3
"""tq put and tq get: files go in and come out; bad input is one line and stores nothing. Usage: files_test.py BIN"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy

BIN = sys.argv[1]
TYPES = {"F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1"}


def write_safetensors(path, tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, array in tensors.items():
        kind = next(k for k, v in TYPES.items() if numpy.dtype(v) == array.dtype)
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin:8 + length + end]
            tensors[name] = numpy.frombuffer(raw, TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, header.get("__metadata__", {})


def tq(address, *arguments):
    command = [os.path.join(BIN, "tq"), arguments[0], "--controller", address, *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def good(address, *arguments):
    done = tq(address, *arguments)
    assert done.returncode == 0, (arguments, done)
    return json.loads(done.stdout)


def refused(address, code, fragment, *arguments):
    done = tq(address, *arguments)
    assert done.returncode == code, (code, arguments, done)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and fragment in done.stderr, (fragment, done)


def round_trips(address, folder):
    generator = numpy.random.default_rng(3)
    first, second = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    tensors = {
        "hidden": generator.random((5, 70000), dtype="f4"),
        "reward": generator.random(5, dtype="f4"),
        "tokens": numpy.arange(9, dtype="<i4"),
        "tokens.sizes": numpy.array([[4], [0], [2], [3], [0]], dtype="<i8"),
        "prompt": numpy.frombuffer(b"hello world", "u1"),
        "prompt.sizes": numpy.array([5, 0, 1, 0, 5], dtype="<i8"),
    }
    write_safetensors(first, tensors, {"tq.layout.prompt": "opaque", "tq.content_type.prompt": "text/plain"})
    put = good(address, "put", "--partition", "all", first)
    assert put["partition"] == "all" and len(put["indexes"]) == 5, put
    fields = "hidden,reward,tokens,prompt"
    got = good(address, "get", "--partition", "all", "--fields", fields, "-o", second)
    assert got["samples"] == 5 and [f["layout"] for f in got["fields"]] == ["dense", "dense", "jagged", "opaque"], got
    back, metadata = read_safetensors(second)
    for name, array in tensors.items():
        assert back[name].tobytes() == array.tobytes(), name
    assert metadata["tq.layout.prompt"] == "opaque" and metadata["tq.content_type.prompt"] == "text/plain"
    good(address, "put", "--partition", "again", second)  # what we wrote, we read
    good(address, "get", "--partition", "again", "--fields", fields, "-o", first)
    assert open(first, "rb").read() == open(second, "rb").read()


def npy_round_trips(address, folder):
    path = os.path.join(folder, "scores.npy")
    array = numpy.arange(12, dtype="<i8").reshape(4, 3)
    numpy.save(path, array)
    put = good(address, "put", "--partition", "npy", "--group-size", "2", "--keys", "a,b,c,d", path)
    assert len(put["indexes"]) == 4
    out = os.path.join(folder, "out.npy")
    good(address, "get", "--partition", "npy", "--fields", "scores", "--output", out)
    assert (numpy.load(out) == array).all()
    assert good(address, "get", "--partition", "npy", "--fields", "scores")["samples"] == 4
    refused(address, 64 + 6, "exists", "put", "--partition", "npy", "--keys", "a,x,y,z", path)  # ALREADY_EXISTS
    assert good(address, "get", "--partition", "npy", "--fields", "scores")["samples"] == 4


def bad_input_stores_nothing(address, folder):
    bad = os.path.join(folder, "bad.safetensors")
    with open(bad, "wb") as file:
        file.write(b"GET / HTTP/1.1\r\n\r\n")
    good_file = os.path.join(folder, "good.npy")
    numpy.save(good_file, numpy.zeros((4, 2), "<f4"))
    uneven = os.path.join(folder, "uneven.safetensors")
    write_safetensors(uneven, {"a": numpy.zeros(3, "<f4"), "b": numpy.zeros(4, "<f4")})
    where = ["--partition", "bad"]
    refused(address, 1, "bad.safetensors", "put", *where, bad)
    refused(address, 1, "must be equal", "put", *where, uneven)
    refused(address, 1, "No such file", "put", *where, os.path.join(folder, "missing.npy"))
    refused(address, 2, ".safetensors or .npy", "put", *where, os.path.join(folder, "x.csv"))
    refused(address, 2, "--partition is missing", "put", good_file)
    refused(address, 2, "expected one", "put", *where)
    refused(address, 2, "3 keys", "put", *where, "--keys", "a,b,c", good_file)
    refused(address, 1, "multiple of group_size", "put", *where, "--group-size", "3", good_file)
    refused(address, 2, "--fields is missing", "get", *where)
    refused(address, 2, ".safetensors or .npy", "get", *where, "--fields", "a", "-o", "x.txt")
    refused(address, 64 + 5, "bad", "get", *where, "--fields", "a")  # NOT_FOUND: nothing was stored
    refused("tcp://127.0.0.1:1", 64 + 14, "UNAVAILABLE", "get", *where, "--fields", "a")


def main():
    command = [os.path.join(BIN, "tq"), "up", "--units", "2", "--memory", "256MiB", "--listen", "tcp://127.0.0.1:0"]
    with tempfile.TemporaryDirectory() as folder, \
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
        try:
            line = up.stdout.readline().split()
            assert line[0] == "ready", line
            round_trips(line[1], folder)
            npy_round_trips(line[1], folder)
            bad_input_stores_nothing(line[1], folder)
        finally:
            up.terminate()
            assert up.wait(timeout=30) == 0
    print("files go in and come out")


main()
