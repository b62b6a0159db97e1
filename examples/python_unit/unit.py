"""A storage unit of tq in Python: bytes in a dictionary. docs/write-a-backend.md walks through it.

    PYTHONPATH=DIR_OF_THE_MESSAGES /usr/bin/python3 unit.py CONTROLLER_ADDRESS [NAME]
"""
import sys

import zmq
from crc32c import crc32c
from tq.v1 import controller_pb2 as controller, storage_pb2 as storage, types_pb2 as types
from tq_wire import EPOCH, INVALID_ARGUMENT, NOT_FOUND, Client, Refusal, Server

cells = {}  # (index, field name) -> (bytes, Field, sizes of the sample)


def indexes(samples):
    return [s + i for s, n in zip(samples.indexes.start, samples.indexes.count) for i in range(n)]


def put(request, frames):
    wanted, payload, runs = indexes(request.samples), b"".join(frames), request.cells
    if any(region != 0 for region in runs.region):
        raise Refusal(INVALID_ARGUMENT, "INLINE_ONLY", "cells.region: expected 0, this unit reads inline frames only")
    places = [(o + k * s, n) for o, n, s, c in zip(runs.offset, runs.length, runs.stride, runs.count) for k in range(c)]
    if len(places) != len(wanted) * len(request.fields) or any(at + n > len(payload) for at, n in places):
        raise Refusal(INVALID_ARGUMENT, "CELLS", f"cells: {len(places)} of them do not fit the request")
    values = [payload[at:at + n] for at, n in places]
    for f, field in enumerate(request.fields):
        shapes = request.shapes[f] if f < len(request.shapes) else types.Shapes()
        for i, index in enumerate(wanted):
            sizes = shapes.size[i * shapes.rank:(i + 1) * shapes.rank]
            cells[index, field.name] = (values[f * len(wanted) + i], field, list(sizes))
    return storage.PutResponse(digest=map(crc32c, values), stored_bytes=len(payload), engine=3), ()


def get(request, frames):
    response, found, at = storage.GetResponse(), [], 0
    for name in request.fields:
        column = [cells.get((index, name)) for index in indexes(request.samples)]
        if None in column:
            raise Refusal(NOT_FOUND, "CELL", f"sample {indexes(request.samples)[column.index(None)]}: no field '{name}'")
        response.fields.append(column[0][1])
        response.shapes.add(rank=len(column[0][2]), size=[size for _, _, sizes in column for size in sizes])
        found += [value for value, _, _ in column]
    for value in found:
        response.cells.region.append(0), response.cells.frame.append(at), response.cells.version.append(0)
        response.cells.length.append(len(value)), response.cells.digest.append(crc32c(value))
        at += len(value)
    return response, (b"".join(found),)


def clear(request, frames):
    gone = [key for key in cells if key[0] in set(indexes(request.samples))]
    freed = sum(len(cells.pop(key)[0]) for key in gone)
    return storage.ClearResponse(removed=len({index for index, _ in gone}), freed_bytes=freed), ()


def main(address, name="python-unit"):
    context = zmq.Context()
    server = Server(context, "tcp://127.0.0.1:*", name, {
        0x0201: (storage.PutRequest, put), 0x0202: (storage.GetRequest, get), 0x0204: (storage.ClearRequest, clear)})
    me = controller.RegisterUnitRequest(name=name, address=server.address, epoch=EPOCH, budget_bytes=1 << 30)
    link = Client(context, address, name)
    unit = link.call(0x0120, me, controller.RegisterUnitResponse)
    print("ready", server.address, flush=True)
    while True:
        server.serve(until_s=unit.heartbeat_ms / 1000)
        try:
            beat = controller.HeartbeatUnitRequest(unit=unit.unit, epoch=EPOCH)
            if not link.call(0x0121, beat, controller.HeartbeatUnitResponse, timeout_s=1).known:
                unit = link.call(0x0120, me, controller.RegisterUnitResponse)  # another life of the controller
        except (Refusal, TimeoutError) as trouble:
            print(trouble, file=sys.stderr)  # the controller is away: go on serving, try again


if __name__ == "__main__":
    main(*sys.argv[1:])
