#!/usr/bin/python3
"""NumPy reads what we write and we read what NumPy writes: `numpy_test.py COPY_PROGRAM`, which reads a file and writes
its columns to another."""
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    types = {"F32": "<f4", "I64": "<i8", "U8": "u1", "BOOL": "?"}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin:8 + length + end]
            tensors[name] = numpy.frombuffer(raw, types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def main(copy):
    generator = numpy.random.default_rng(1)
    kinds = ["<f4", "<f8", "<i8", "<i4", "<i2", "i1", "<u8", "<u4", "<u2", "u1", "?", "<f2", "<c8", "<c16"]
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            for shape in [(3,), (2, 3), (1, 2, 3, 4)]:
                array = (generator.random(shape) * 100).astype(kind)
                source, target = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
                numpy.save(source, array)
                subprocess.run([copy, source, target], check=True, timeout=30)
                back = numpy.load(target, allow_pickle=False)
                assert back.dtype == array.dtype and back.shape == array.shape, (kind, shape)
                assert back.tobytes() == array.tobytes(), (kind, shape)
        array = generator.random((4, 2)).astype("<f4")
        numpy.save(source, array)
        target = os.path.join(folder, "out.safetensors")
        subprocess.run([copy, source, target], check=True, timeout=30)
        assert (read_safetensors(target)["in"] == array).all()
    print("numpy agrees")


main(sys.argv[1])
