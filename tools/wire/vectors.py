#!/usr/bin/env -S /usr/bin/python3
"""Writes docs/wire-vectors.json: one example of every message of the wire, encoded by Python's protobuf, an implementation
that shares nothing with ours.

    vectors.py IDL_DIR               prints the vectors as JSON
    vectors.py IDL_DIR --corpus DIR  writes them as seeds into the folders of the fuzz targets there
    vectors.py IDL_DIR --header FILE the same as a C table, for tests/wire/vectors_test.c

Messages of tq.wire, and those of tq.v1 that a backend needs, are written by hand; every other message of tq.v1 gets each of its
fields filled by rule.
"""
import importlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

from google.protobuf import json_format

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/python_unit"))
from crc32c import crc32c  # noqa: E402

SESSION = 0x1122334455667788
EPOCH = 0x0102030405060708
CALL = 0xA1B2C3D4E5F60718
KEY = bytes(range(16))
TRACE = bytes(range(25))


def load_messages(idl):
    """Compiles the protos into a temporary folder and returns a function from full name to message class."""
    out = tempfile.mkdtemp(prefix="tq-wire-")
    protos = sorted(str(p.relative_to(idl)) for p in pathlib.Path(idl).rglob("*.proto"))
    subprocess.run(["protoc", f"-I{idl}", f"--python_out={out}", *protos], check=True)
    sys.path.insert(0, out)
    modules = [importlib.import_module(p[:-6].replace("/", ".") + "_pb2") for p in protos]

    def find(name):
        short = name.rsplit(".", 1)[1]
        for module in modules:
            if module.DESCRIPTOR.package == name.rsplit(".", 1)[0] and hasattr(module, short):
                return getattr(module, short)
        raise KeyError(name)

    find.all = sorted((m for module in modules if module.DESCRIPTOR.package == "tq.v1"
                       for m in module.DESCRIPTOR.message_types_by_name.values()), key=lambda m: m.full_name)
    return find


def frame(envelope, body=b""):
    head = envelope.SerializeToString(deterministic=True)
    return b"TQ" + struct.pack("<H", len(head)) + head + body


def wire_messages(find):
    """(name, message) for every message below the services."""
    def make(message, /, **values):
        return find("tq.wire." + message)(**values)

    limits = dict(body_bytes=16 << 20, inline_frames=64, inline_bytes=64 << 20)
    yield "envelope request", make("Envelope", version=1, kind=1, call_id=CALL, method=0x0201, remaining_us=30000000,
                                   attempt=1, session=SESSION, epoch=EPOCH, idempotency_key=KEY, trace=TRACE,
                                   inline_frames=1, inline_bytes=8)
    yield "envelope empty", make("Envelope")
    yield "status detail", make("StatusDetail", status=8, outcome=1, reason="BUDGET_BYTES",
                                message="put of 64 bytes: 0 of 1024 are free", retry_after_ms=20)
    yield "hello", make("Hello", protocol_min=1, protocol_max=1, session=SESSION, cluster_id=KEY, epoch=EPOCH,
                        expect_epoch=0, name="rollout-0", role=1, limits=limits, keepalive_ms=1000)
    yield "hello reply", make("HelloReply", protocol=1, session=SESSION, cluster_id=KEY, epoch=EPOCH,
                              name="controller", role=2, limits=limits,
                              credit=dict(calls=4096, bytes=256 << 20), keepalive_ms=1000, resumed=True)
    yield "keep-alive", make("KeepAlive", session=SESSION, sent_ns=123456789)
    yield "goodbye", make("Goodbye", session=SESSION, reason="closing")
    yield "lookup", make("Lookup", session=SESSION, call_id=CALL)
    yield "lookup reply", make("LookupReply", verdict=3, arrivals=1000, oldest_arrival=10, in_flight=2, wire_bytes=99,
                               age_us=1500)
    address = make("BulkAddress", version=1, process=EPOCH, host=SESSION, uid=0, pid=4711, start_time=99,
                   worker=b"w" * 75, reader=b"r" * 75, features=3, ipv4=0x7F000001, port=7601)
    address.check = crc32c(struct.pack("<QQ", address.process, address.ipv4 << 32 | address.port) + address.worker +
                           address.reader)
    yield "bulk address", address
    key = make("BulkKey", process=EPOCH, region=CALL, base=4096, length=1 << 20, packed=b"k" * 30)
    key.check = crc32c(struct.pack("<QQQQ", key.process, key.region, key.base, key.length) + key.packed)
    yield "bulk key", key
    yield "bulk read", make("BulkRead", transfer=7, process=EPOCH, region=CALL, ticket=KEY, expires_us=1000000,
                            first_piece=0, frame=[64, 4096], skip=[0, 0], length=[1000, 2000], version=[1, 2],
                            reply_to=b"a" * 90, link=1)
    yield "bulk piece", make("BulkPiece", transfer=7, piece=1, length=2000)
    yield "bulk refusal", make("BulkPiece", transfer=7, piece=0, status=5)


def service_messages(find):
    """(name, message) for the requests and responses that a backend author needs."""
    def v1(message, /, **values):
        return find("tq.v1." + message)(**values)

    samples = dict(partition="train_0", indexes=dict(start=[0, 8], count=[2, 1]), generation=[1], unit=[1])
    fields = [dict(name="reward", layout=1, dtype=12), dict(name="tokens", layout=2, dtype=7),
              dict(name="prompt", layout=3, content_type="text/plain; charset=utf-8")]
    shapes = [{}, dict(rank=1, size=[3, 0, 2]), {}]
    yield "put request", v1("PutRequest", samples=samples, fields=fields, shapes=shapes,
                            cells=dict(region=[0, 0, 0, 0, 0], offset=[0, 12, 24, 24, 32], length=[4, 12, 0, 8, 2],
                                       stride=[4, 0, 0, 0, 2], count=[3, 1, 1, 1, 3]))
    yield "put response", v1("PutResponse", digest=[0xE3069283] * 9, stored_bytes=38, engine=3)
    yield "get request", v1("GetRequest", samples=samples, fields=["reward"], inline_limit=1 << 20)
    yield "get response", v1("GetResponse", fields=fields[:1], shapes=[{}],
                             cells=dict(region=[0, 0, 0], frame=[0, 4, 8], length=[4, 4, 4], version=[0, 0, 0],
                                        digest=[1, 2, 3]))
    yield "release request", v1("ReleaseRequest", pin=[1, 2])
    yield "clear request", v1("ClearRequest", samples=samples)
    yield "clear response", v1("ClearResponse", removed=3, freed_bytes=38)
    yield "insert request", v1("InsertSamplesRequest", partition="train_0", count=3, group=[7, 7, 8])
    yield "insert response", v1("InsertSamplesResponse", batch=dict(samples=samples, group=[7, 7, 8], units=[
        dict(unit=1, name="u1", address="tcp://127.0.0.1:7601", epoch=EPOCH, state=1)]))
    yield "notify request", v1("NotifyProducedRequest", samples=samples, fields=fields, shapes=shapes, bytes=[12])
    yield "fetch request", v1("FetchBatchRequest", partition="train_0", task="actor", fields=["reward", "tokens"],
                              batch_size=2, sampler=dict(name="group_n", group_size=2), max_wait_ms=1000)
    yield "register request", v1("RegisterUnitRequest", name="u1", address="tcp://127.0.0.1:7601", epoch=EPOCH,
                                 budget_bytes=1 << 30)
    yield "register response", v1("RegisterUnitResponse", unit=1, controller_epoch=EPOCH, heartbeat_ms=1000)
    yield "heartbeat request", v1("HeartbeatUnitRequest", unit=1, epoch=EPOCH, used_bytes=38, used_samples=3)
    yield "heartbeat response", v1("HeartbeatUnitResponse", known=True, state=1)


def fill(descriptor, message, depth=0):
    """Gives every field a value that follows from its number: two of it where it is repeated."""
    for field in descriptor.fields:
        repeated = field.label == field.LABEL_REPEATED
        if field.type == field.TYPE_MESSAGE:
            for target in ([getattr(message, field.name).add() for _ in range(2)] if repeated
                           else [getattr(message, field.name)]):
                target.SetInParent()
                fill(field.message_type, target, depth + 1)
            continue
        value = {field.TYPE_STRING: f"text-{field.number}", field.TYPE_BYTES: b"bytes-%d" % field.number,
                 field.TYPE_BOOL: True, field.TYPE_ENUM: 1, field.TYPE_DOUBLE: field.number + 0.5,
                 field.TYPE_FIXED64: field.number << 40, field.TYPE_FIXED32: field.number << 20}.get(
                     field.type, field.number * 100)
        if repeated:
            getattr(message, field.name).extend([value, value])
        else:
            setattr(message, field.name, value)


def other_messages(find):
    """(name, message) for every message of the services that is not written by hand."""
    known = {message.DESCRIPTOR.full_name for _, message in service_messages(find)}
    for descriptor in find.all:
        if descriptor.full_name not in known:
            message = find(descriptor.full_name)()
            fill(descriptor, message)
            yield descriptor.name + " by rule", message


def frames(find):
    """(name, bytes, meaning) for whole part-0 frames."""
    envelope = find("tq.wire.Envelope")
    messages = {name: m.SerializeToString(deterministic=True)
                for source in (wire_messages, service_messages) for name, m in source(find)}
    common = dict(version=1, session=SESSION, epoch=EPOCH, call_id=CALL)
    yield "frame hello", frame(envelope(kind=4, **common), messages["hello"]), "the first message on a socket"
    yield "frame hello reply", frame(envelope(kind=5, **common), messages["hello reply"]), "the session is open"
    yield "frame request", frame(envelope(kind=1, method=0x0202, remaining_us=30000000, attempt=1, **common),
                                 messages["get request"]), "StorageService/Get with 30 s left"
    yield "frame reply", frame(envelope(kind=2, **common), messages["put response"]), "the answer to a put"
    yield "frame error", frame(envelope(kind=2, status=8, **common), messages["status detail"]), "a refusal"
    yield "frame cancel", frame(envelope(kind=3, **common)), "the caller gave up"
    yield "frame keep-alive", frame(envelope(kind=6, **common), messages["keep-alive"]), "I am here"
    yield "frame lookup", frame(envelope(kind=7, **common), messages["lookup"]), "what became of that call?"
    yield "frame lookup reply", frame(envelope(kind=8, **common), messages["lookup reply"]), "its reply was lost"
    yield ("frame with payload", frame(envelope(kind=1, method=0x0201, remaining_us=30000000, attempt=1,
                                                idempotency_key=KEY, inline_frames=1, inline_bytes=38, **common),
                                       messages["put request"]), "part 0 of a put; one part of 38 bytes follows")
    yield "frame goodbye", frame(envelope(kind=9, **common), messages["goodbye"]), "this session ends"


def vectors(find):
    rows = []
    for source in (wire_messages, service_messages, other_messages):
        for name, message in source(find):
            rows.append(dict(name=name, type=message.DESCRIPTOR.full_name,
                             hex=message.SerializeToString(deterministic=True).hex(),
                             fields=json_format.MessageToDict(message, preserving_proto_field_name=True)))
    for name, data, meaning in frames(find):
        rows.append(dict(name=name, type="frame", hex=data.hex(), meaning=meaning))
    return rows


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name)[1:]


def write_corpus(rows, folder):
    """Beside the other seeds of each fuzz target that reads such bytes as they are: envelope (whole frames), bulk_address,
    bulk_read, bulk_piece, and one for every request of a service."""
    for row in rows:
        package, _, short = row["type"].rpartition(".")
        target = {"": "envelope", "tq.wire": snake(short), "tq.v1": "tq_v1_" + snake(short)}[package]
        place = pathlib.Path(folder) / target
        if place.is_dir() and (package != "tq.wire" or short.startswith("Bulk")):
            (place / ("vector_" + row["name"].lower().replace(" ", "_"))).write_bytes(bytes.fromhex(row["hex"]))


def c_symbol(full_name):
    """protobuf-c's name of a message's descriptor."""
    parts = full_name.split(".")
    parts[-1] = snake(parts[-1])
    return "__".join(parts) + "__descriptor"


def write_header(rows, path):
    lines = ["static const struct vector { const char *name, *type, *hex; } vectors[] = {"]
    lines += ['    { "%s", "%s", "%s" },' % (r["name"], r["type"], r["hex"]) for r in rows]
    lines += ["};", "static const struct service_type { const char *name; const ProtobufCMessageDescriptor *descriptor; }",
              "service_types[] = {"]
    lines += ['    { "%s", &%s },' % (t, c_symbol(t)) for t in sorted({r["type"] for r in rows})
              if t.startswith("tq.v1.")]
    pathlib.Path(path).write_text("\n".join(lines + ["};", ""]))


def main(arguments):
    if len(arguments) not in (1, 3):
        print(__doc__, file=sys.stderr)
        return 2
    rows = vectors(load_messages(arguments[0]))
    if arguments[1:2] == ["--corpus"]:
        write_corpus(rows, arguments[2])
    elif arguments[1:2] == ["--header"]:
        write_header(rows, arguments[2])
    else:
        print(json.dumps(dict(about="One example of every message; see docs/wire.md", vectors=rows), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
