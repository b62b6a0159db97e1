#!/usr/bin/python3
"""Writes seeds for envelope, hello, server_socket and client_socket into tests/fuzz/corpus. The bytes come from Python's
protobuf, so that they are not made by the code under test. Existing files with other names stay.
Usage: make_rpc_seeds.py            from anywhere; needs protoc and python3-protobuf
"""
import pathlib
import struct
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
REQUEST, REPLY, CANCEL, HELLO, HELLO_REPLY, KEEPALIVE, LOOKUP, LOOKUP_REPLY, GOODBYE = range(1, 10)


def load():
    with tempfile.NamedTemporaryFile() as out:
        protos = ["tq/wire/envelope.proto", "tq/wire/session.proto"]
        subprocess.run(["protoc", "-o", out.name, *protos], cwd=ROOT / "idl", check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName("tq.wire." + name))


MESSAGE = load()


def make(type_name, /, **fields):
    return MESSAGE(type_name)(**fields).SerializeToString()


def frame(kind, body=b"", **fields):
    envelope = make("Envelope", **{"version": 1, "call_id": 9, "session": 7, "kind": kind, **fields})
    return b"TQ" + struct.pack("<H", len(envelope)) + envelope + body


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


LIMITS = {"body_bytes": 1 << 20, "inline_frames": 16, "inline_bytes": 1 << 20}
BODIES = [
    make("Hello", protocol_min=1, protocol_max=2, features=3, session=7, cluster_id=b"c" * 16, epoch=4, expect_epoch=4711,
         name="somebody", role=1, limits=LIMITS, security=b"s" * 32, keepalive_ms=500),
    make("HelloReply", protocol=1, features=1, session=7, cluster_id=b"c" * 16, epoch=5, name="server", role=2,
         limits=LIMITS, credit={"calls": 10, "bytes": 1000}, keepalive_ms=1000, resumed=True, security=b"s"),
    make("KeepAlive", session=7, sent_ns=123456789),
    make("Lookup", session=7, call_id=9),
    make("LookupReply", verdict=3, arrivals=10, oldest_arrival=1, in_flight=2, wire_bytes=90, age_us=1000),
    make("Goodbye", session=7, reason="done"),
    make("StatusDetail", status=8, outcome=1, reason="BUDGET_BYTES", message="no room", retry_after_ms=50),
]


def envelopes():
    write("envelope", "request", frame(REQUEST, b"body", method=0x201, remaining_us=30000000, attempt=1, epoch=4,
                                       idempotency_key=b"k" * 16, trace=b"t" * 25))
    write("envelope", "reply", frame(REPLY, BODIES[6], status=8, epoch=5))
    write("envelope", "inline", frame(REQUEST, b"", inline_frames=3, inline_bytes=1 << 40))
    write("envelope", "long_trace", frame(REQUEST, b"", trace=b"t" * 26))
    write("envelope", "cut", frame(REQUEST, b"", idempotency_key=b"k" * 16)[:-5])
    write("envelope", "http", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")


def hellos():
    for number, body in enumerate(BODIES):
        write("hello", f"body_{number}", bytes([number]) + body)
        write("hello", f"cut_{number}", bytes([number]) + body[:-1])


def script(*steps):
    return b"".join(bytes([what]) + struct.pack("<H", len(data) if isinstance(data, bytes) else data) +
                    (data if isinstance(data, bytes) else b"") for what, data in steps)


def server_sockets():
    once = frame(REQUEST, b"", method=1, remaining_us=1000000, attempt=1)
    parked = frame(REQUEST, b"\x18\x01", method=2, remaining_us=1000000, attempt=1, idempotency_key=b"k" * 16, call_id=10)
    again = frame(REQUEST, b"\x18\x01", method=2, remaining_us=1000000, attempt=2, idempotency_key=b"k" * 16, call_id=11)
    other = frame(REQUEST, b"\x18\x02", method=2, remaining_us=1000000, attempt=1, idempotency_key=b"k" * 16, call_id=12)
    bulk = frame(REQUEST, b"", method=4, remaining_us=1, inline_frames=1, inline_bytes=1)
    lookup = frame(LOOKUP, BODIES[3])
    keepalive = frame(KEEPALIVE, BODIES[2])
    write("server_socket", "once_twice", script((0, once), (1, once), (0, once)))
    write("server_socket", "join", script((0, parked), (1, again), (0, parked), (4, 0), (0, again), (0, other)))
    write("server_socket", "cancel", script((0, parked), (0, frame(CANCEL, call_id=10)), (8, 100), (4, 0)))
    write("server_socket", "lookup", script((0, lookup), (0, once), (0, lookup), (0, bulk)))
    write("server_socket", "silence", script((0, parked), (0, keepalive), (8, 2000), (0, keepalive), (8, 4000), (4, 0)))
    write("server_socket", "goodbye", script((0, parked), (0, frame(GOODBYE, BODIES[5])), (0, once), (4, 0)))
    write("server_socket", "hello", script((0, frame(HELLO, BODIES[0])), (3, once), (2, once), (8, 10), (0, b"noise")))
    write("server_socket", "slow", script(*[(3, frame(REQUEST, b"", method=3, remaining_us=1000000, call_id=n, session=8))
                                            for n in range(20, 60)]))


def client_sockets():
    def answer(call, body=b"", **fields):
        return frame(REPLY, body, call_id=0xffffffffffffff00 + call, epoch=5, **fields)
    gone = make("StatusDetail", status=14, outcome=1, reason="NO_SESSION")
    write("client_socket", "answers", script((0, answer(0)), (0, answer(1, b"\x10\x05")), (0, answer(1)), (0, answer(2))))
    write("client_socket", "error", script((0, answer(0, BODIES[6], status=8)), (0, answer(7)), (0, b"noise")))
    write("client_socket", "no_session", script((0, answer(0, gone, status=14)), (1, 1), (0, answer(0)), (1, 500)))
    write("client_socket", "late", script((1, 900), (1, 1), (1, 1), (0, answer(0)), (2, answer(0)), (1, 5000)))
    write("client_socket", "lookup", script((1, 900), (1, 10), (2, frame(LOOKUP_REPLY, BODIES[4], epoch=5,
                                                                       call_id=0xffffffffffffff00)), (1, 500)))
    write("client_socket", "keepalive", script((0, frame(KEEPALIVE, gone, status=14, epoch=5)), (1, 1500),
                                               (0, frame(GOODBYE, BODIES[5], epoch=5))))


if __name__ == "__main__":
    envelopes()
    hellos()
    server_sockets()
    client_sockets()
