"""The control wire of tq for Python: enough to serve a tq service and to call one. docs/wire.md says why each step is there.

Needs pyzmq, protobuf, and the messages as modules: protoc -I idl --python_out=DIR idl/tq/*.proto idl/tq/*/*.proto
Peers that use this helper take and give inline frames only: they leave their bulk address empty.
"""
import os
import struct
import time
import zmq
from tq.wire import envelope_pb2, session_pb2

REQUEST, REPLY, CANCEL, HELLO, HELLO_REPLY, KEEPALIVE, LOOKUP, LOOKUP_REPLY, GOODBYE = range(1, 10)
OK, INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, UNIMPLEMENTED, UNAVAILABLE = 0, 3, 5, 9, 12, 14
ROLE_STORAGE = 3
EPOCH = struct.unpack("<Q", os.urandom(8))[0] | 1
LIMITS = dict(body_bytes=16 << 20, inline_frames=1024, inline_bytes=64 << 20)


class Refusal(Exception):
    """Raised by a handler: becomes an error reply. Raised by a call: what the peer answered."""
    def __init__(self, status, reason, message, outcome=2):
        super().__init__(f"{status} {reason}: {message}")
        self.detail = envelope_pb2.StatusDetail(status=status, outcome=outcome, reason=reason, message=message)


def pack(envelope, body=b"", frames=()):
    envelope.version, envelope.epoch = 1, EPOCH
    envelope.inline_frames, envelope.inline_bytes = len(frames), sum(map(len, frames))
    head = envelope.SerializeToString()
    return [b"TQ" + struct.pack("<H", len(head)) + head + body, *frames]


def unpack(parts):
    """(envelope, body, frames), or None for what is to be dropped without an answer."""
    first = parts[0] if parts else b""
    if len(first) < 4 or first[:2] != b"TQ":
        return None
    end = 4 + struct.unpack("<H", first[2:4])[0]
    envelope = envelope_pb2.Envelope()
    try:
        envelope.ParseFromString(first[4:end])
    except Exception:
        return None
    if end > len(first) or envelope.version == 0 or len(parts) != 1 + envelope.inline_frames:
        return None
    return envelope, first[end:], parts[1:]


class Client:
    """One peer, one socket, one call at a time. `call` raises Refusal, or TimeoutError at the deadline."""

    def __init__(self, context, address, name):
        self.socket = context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.ROUTING_ID, b"TQ1\x01" + os.urandom(12))
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(address)
        self.name, self.session, self.next_call = name, struct.unpack("<Q", os.urandom(8))[0] | 1, 1
        self.hello()

    def hello(self):
        body = session_pb2.Hello(protocol_min=1, protocol_max=1, session=self.session, epoch=EPOCH, name=self.name,
                                 role=ROLE_STORAGE, limits=LIMITS).SerializeToString()
        self._exchange(HELLO, HELLO_REPLY, body, 5.0)

    def _exchange(self, kind, expect, body, timeout_s, **fields):
        call, self.next_call = self.next_call, self.next_call + 1
        envelope = envelope_pb2.Envelope(kind=kind, call_id=call, session=self.session, **fields)
        self.socket.send_multipart(pack(envelope, body))
        deadline = time.monotonic() + timeout_s
        while self.socket.poll(max(0, int((deadline - time.monotonic()) * 1000))):
            message = unpack(self.socket.recv_multipart())
            if message is None or (message[0].kind, message[0].call_id) != (expect, call):
                continue  # a late answer to an earlier call: matched by number, so it cannot be taken for ours
            if message[0].status != OK:
                detail = envelope_pb2.StatusDetail.FromString(message[1])
                raise Refusal(detail.status, detail.reason, detail.message, detail.outcome)
            return message[1]
        raise TimeoutError(f"no answer in {timeout_s} s")

    def call(self, method, request, response_type, timeout_s=5.0):
        ask = lambda: self._exchange(REQUEST, REPLY, request.SerializeToString(), timeout_s, method=method, attempt=1,
                                     remaining_us=int(timeout_s * 1e6))
        try:
            return response_type.FromString(ask())
        except Refusal as refusal:
            if refusal.detail.reason != "NO_SESSION":
                raise
            self.hello()  # we were silent for too long, or the peer has another life
            return response_type.FromString(ask())


class Server:
    """Serves methods = {id: (request type, handler(request, frames) -> (response, frames))} on one thread."""

    def __init__(self, context, address, name, methods):
        self.socket, self.name, self.methods = context.socket(zmq.ROUTER), name, methods
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self.socket.setsockopt(zmq.MAXMSGSIZE, LIMITS["inline_bytes"])
        self.socket.bind(address)
        self.address = self.socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self.sessions = {}  # session -> when it was heard of last

    def serve(self, until_s):
        """Answers what comes, for at most until_s seconds, then returns so that the caller can send its heartbeat."""
        deadline = time.monotonic() + until_s
        while self.socket.poll(max(0, int((deadline - time.monotonic()) * 1000))):
            peer, *parts = self.socket.recv_multipart()
            message = unpack(parts) if len(peer) == 16 and peer[:4] == b"TQ1\x01" else None
            if message is not None:
                self._answer(peer, *message)
        silent = time.monotonic() - 3.0  # three missed keep-alives
        self.sessions = {s: heard for s, heard in self.sessions.items() if heard > silent}

    def _answer(self, peer, envelope, body, frames):
        reply, out_frames = envelope_pb2.Envelope(call_id=envelope.call_id, session=envelope.session), ()
        try:
            reply.kind = {HELLO: HELLO_REPLY, REQUEST: REPLY}.get(envelope.kind, envelope.kind)
            if envelope.kind == HELLO:
                out = self._hello(session_pb2.Hello.FromString(body))
            elif envelope.kind not in (KEEPALIVE, REQUEST):
                return  # cancel, goodbye, lookup: advice that this server does not take
            elif envelope.session not in self.sessions:
                raise Refusal(UNAVAILABLE, "NO_SESSION", "say hello first", 1)
            else:
                self.sessions[envelope.session] = time.monotonic()
                out, out_frames = self._call(envelope, body, frames) if envelope.kind == REQUEST else (body, ())
        except Refusal as refusal:
            reply.status, out = refusal.detail.status, refusal.detail.SerializeToString()
        try:
            self.socket.send_multipart([peer, *pack(reply, out, out_frames)])
        except zmq.ZMQError:
            pass  # the peer is gone; its call ends by its deadline

    def _hello(self, hello):
        if not hello.protocol_min <= 1 <= hello.protocol_max:
            raise Refusal(FAILED_PRECONDITION, "PROTOCOL_RANGE", "this server speaks version 1", 1)
        if hello.expect_epoch not in (0, EPOCH):
            raise Refusal(FAILED_PRECONDITION, "EPOCH", "this is another life of the server", 1)
        resumed, self.sessions[hello.session] = hello.session in self.sessions, time.monotonic()
        return session_pb2.HelloReply(protocol=1, session=hello.session, cluster_id=hello.cluster_id, epoch=EPOCH,
                                      name=self.name, role=ROLE_STORAGE, limits=LIMITS, keepalive_ms=1000,
                                      credit=dict(calls=1024, bytes=256 << 20), resumed=resumed).SerializeToString()

    def _call(self, envelope, body, frames):
        if envelope.method not in self.methods:
            raise Refusal(UNIMPLEMENTED, "METHOD", f"no method 0x{envelope.method:04x} here", 1)
        request_type, handler = self.methods[envelope.method]
        response, out_frames = handler(request_type.FromString(body), frames)
        return response.SerializeToString(), out_frames
