"""The control channel: forged, broken and endless frames."""

import os
import socket
import stat
import time

from attack_suite import expected

FORGED = b'{"event":"result","status":"OK","value":"0x1.5p5"}\n'


def channel():
    """The control channel: the only socket there is."""
    found = [fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}")]
    return socket.socket(fileno=next(fd for fd in found if stat.S_ISSOCK(os.fstat(fd).st_mode)))


def send(frame):
    """Send a frame, and wait."""
    control = channel()
    control.sendall(frame)
    time.sleep(60)


def flood(frame):
    """Send a frame again and again."""
    control = channel()
    while True:
        control.sendall(frame)


@expected("PROTOCOL")
def k_claims_failed_load(model, dataset):
    """Says, after the start of the clock, that the model could not be loaded."""
    send(b'{"event":"failed","message":"try again"}\n')


@expected("PROTOCOL")
def k_claims_infra_error(model, dataset):
    """Blames the harness, to get another try. A worker may not claim that."""
    send(b'{"event":"result","status":"INFRA_ERROR","message":"try again"}\n')


@expected("CRASH")
def k_closes_channel(model, dataset):
    """Closes the control channel and goes on. That ends the call."""
    os.closerange(3, 1024)
    time.sleep(60)


@expected("PROTOCOL")
def k_deep_json(model, dataset):
    """Sends JSON nested as deep as a frame allows. The parser's recursion error is caught."""
    send(b"[" * 4000 + b"\n")


@expected("PROTOCOL")
def k_empty_lines(model, dataset):
    """Floods the channel with empty lines."""
    flood(b"\n" * 65536)


@expected("PROTOCOL")
def k_endless_frame(model, dataset):
    """Sends a frame without an end. More than 4096 bytes are a protocol error."""
    flood(b"x" * 65536)


@expected("OK", value=42.0)
def k_forged_by_child(model, dataset):
    """Forges a result from a child while the parent goes on. Still only its own value."""
    control = channel()
    if os.fork() == 0:
        control.sendall(FORGED)
        os._exit(0)
    time.sleep(60)


@expected("OK", value=42.0)
def k_forged_value(model, dataset):
    """Forges its own result. It can only say what it could return as well."""
    send(FORGED)


@expected("TIMEOUT")
def k_half_frame(model, dataset):
    """Sends half a frame and waits. The clock runs on."""
    send(b'{"event":"result","status":"OK",')


@expected("CRASH")
def k_half_frame_then_exit(model, dataset):
    """Sends half a frame and dies."""
    channel().sendall(b'{"event":"result"')
    os._exit(0)


@expected("PROTOCOL")
def k_hex_overflow(model, dataset):
    """Forges a number beyond the range of a float."""
    send(b'{"event":"result","status":"OK","value":"0x1p99999"}\n')


@expected("PROTOCOL")
def k_json_infinity(model, dataset):
    """Forges an infinity as a JSON number."""
    send(b'{"event":"result","status":"OK","value":-Infinity}\n')


@expected("PROTOCOL")
def k_not_a_number(model, dataset):
    """Forges NaN, past the worker's own check."""
    send(b'{"event":"result","status":"OK","value":"nan"}\n')


@expected("PROTOCOL")
def k_not_an_object(model, dataset):
    """Sends a JSON array."""
    send(b'["result", "OK", "0x1p0"]\n')


@expected("PROTOCOL")
def k_not_json(model, dataset):
    """Sends bytes that are neither JSON nor text."""
    send(b"\xff\xfe\x00\xd8{\n")


@expected("OK", value=42.0)
def k_other_fields(model, dataset):
    """Claims time, memory, another model and another submission. The harness takes none of these from a worker."""
    others = b'"call_wall_s":0,"peak_memory_bytes":0,"model":"model_7","submission":"control","message":"[red]"'
    send(FORGED.replace(b"}", b"," + others + b"}"))


@expected("OK")
def k_passes_descriptors(model, dataset):
    """Sends open files over the channel, to exhaust the harness' own. The harness accepts none."""
    control = channel()
    try:
        for _ in range(100):
            socket.send_fds(control, [b" "], [0] * 200)
    except OSError:  # too many on their way
        pass
    control.detach()


@expected("OK")
def k_reads_channel(model, dataset):
    """Reads what the harness still sends. There is nothing to learn, and nothing to wait for."""
    control = channel()
    control.setblocking(False)
    try:
        print("BREACH:", control.recv(4096))
    except BlockingIOError:
        pass
    control.setblocking(True)
    control.detach()


@expected("PROTOCOL")
def k_repeats_loaded(model, dataset):
    """Says `loaded` again, to have the clock restarted."""
    send(b'{"event":"loaded"}\n')


@expected("OK", value=42.0)
def k_second_result(model, dataset):
    """Forges a second result after the first, for the next call. The first frame ends the call."""
    send(20 * FORGED)


@expected("CRASH")
def k_shutdown(model, dataset):
    """Shuts the channel down in both directions, and returns a value."""
    channel().shutdown(socket.SHUT_RDWR)


@expected("EXCEPTION")
def k_surrogates(model, dataset):
    """Sends lone surrogates and control characters in a message that will be stored and printed."""
    send(b'{"event":"result","status":"EXCEPTION","message":"\\ud800\\u0000\\u001b[31m\\udfff"}\n')


@expected("PROTOCOL")
def k_wrong_types(model, dataset):
    """Forges a result of the wrong types."""
    send(b'{"event":"result","status":["OK"],"value":{},"message":7}\n')
