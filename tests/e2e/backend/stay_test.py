#!/usr/bin/python3
"""The Python unit goes on when a client was away for longer than its session, and registers again with a restarted controller.
Usage: stay_test.py BUILD MESSAGES (the folder of the generated Python messages)"""
import os
import signal
import subprocess
import sys
import threading

BUILD, MESSAGES = sys.argv[1:]
UNIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/python_unit")
sys.path[:0] = [MESSAGES, UNIT]
import tq_wire  # noqa: E402
import zmq  # noqa: E402
from tq.v1 import controller_pb2 as controller, storage_pb2 as storage  # noqa: E402

children = []


def start(*command):
    """A child that has printed its ready line; the address from it."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                             env=dict(os.environ, PYTHONPATH=MESSAGES, PYTHONDONTWRITEBYTECODE="1"))
    children.append(child)
    word, address = child.stdout.readline().split()
    assert word == "ready", word
    return child, address


def until(condition, what, tries=40):
    """Asks again after each heartbeat interval at most; a wait for an event of another process."""
    for _ in range(tries):
        if condition():
            return
        threading.Event().wait(0.25)
    raise AssertionError(what)


def stop(child):
    child.send_signal(signal.SIGTERM)
    child.wait(10)


def put(client):
    request = storage.PutRequest(samples=dict(partition="P", indexes=dict(start=[1], count=[1]), generation=[1]),
                                 fields=[dict(name="x", layout=1, dtype=2)], shapes=[{}],
                                 cells=dict(region=[0], offset=[0], length=[1], stride=[0], count=[1]))
    body = request.SerializeToString()
    call, client.next_call = client.next_call, client.next_call + 1
    envelope = tq_wire.envelope_pb2.Envelope(kind=tq_wire.REQUEST, call_id=call, session=client.session, method=0x0201,
                                             attempt=1, remaining_us=5000000, idempotency_key=os.urandom(16))
    client.socket.send_multipart(tq_wire.pack(envelope, body, (b"A",)))
    assert client.socket.poll(5000), "no answer"
    reply, answer, _ = tq_wire.unpack(client.socket.recv_multipart())
    return tq_wire.envelope_pb2.StatusDetail.FromString(answer).reason if reply.status else "stored"


def units(address):
    context = zmq.Context()
    try:
        client = tq_wire.Client(context, address, "stay-test")
        return client.call(0x0123, controller.ListUnitsRequest(), controller.ListUnitsResponse).units
    except TimeoutError:
        return []
    finally:
        context.destroy(linger=0)


def main():
    table, address = start(f"{BUILD}/bin/tq-controller", "--listen", "tcp://127.0.0.1:0")
    _, unit_address = start("/usr/bin/python3", f"{UNIT}/unit.py", address)

    client = tq_wire.Client(zmq.Context(), unit_address, "sleeper")
    assert put(client) == "stored"
    until(lambda: put_after_silence(client), "the unit still knows a session that was silent for three intervals")
    client.hello()
    assert put(client) == "stored", "a client that says hello again must be served"

    stop(table)
    start(f"{BUILD}/bin/tq-controller", "--listen", address)
    until(lambda: [u.name for u in units(address)] == ["python-unit"], "the unit did not register again")
    print("1 passed, 0 failed")


def put_after_silence(client):
    """Stays silent for longer than the session lives, then asks without saying hello."""
    threading.Event().wait(4.5)
    return put(client) == "NO_SESSION"


try:
    main()
finally:
    for child in children:
        if child.poll() is None:
            child.kill()
        child.wait()
