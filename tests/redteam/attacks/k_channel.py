"""The control channel: forged, broken and endless frames."""

import os
import socket
import stat
import time

from attack_suite import expected

FORGED = b'{"event":"result","status":"OK","value":"0x1.5p5"}\n'
OTHERS = b'"call_wall_s":0,"peak_memory_bytes":0,"model":"model_7","submission":"control","message":"[red]"}'


def channel():
    """Return the control channel, which is the only socket in the sandbox."""
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


@expected("OK", value=42.0)
def k_forged_by_child(model, dataset):
    """Forges a result in a child while the parent continues. It can only forge the value of its own call."""
    control = channel()
    if os.fork() == 0:
        control.sendall(FORGED)
        os._exit(0)
    time.sleep(60)


@expected("OK")
def k_passes_descriptors(model, dataset):
    """Sends open files over the channel, to exhaust the harness' descriptors. The harness accepts none."""
    control = channel()
    try:
        for _ in range(100):
            socket.send_fds(control, [b" "], [0] * 200)
    except OSError:  # too many on their way
        pass
    control.detach()


@expected("OK")
def k_reads_channel(model, dataset):
    """Reads from the control channel. The harness sends nothing more before the result."""
    control = channel()
    control.setblocking(False)
    try:
        print("BREACH:", control.recv(4096))
    except BlockingIOError:
        pass
    control.setblocking(True)
    control.detach()


#: Name, outcomes, action, and reason.
ROWS = [
    ("k_claims_failed_load", "PROTOCOL", send(b'{"event":"failed","message":"try again"}\n'),
     "Says, after the start of the clock, that the model could not be loaded."),
    ("k_claims_infra_error", "PROTOCOL", send(b'{"event":"result","status":"INFRA_ERROR","message":"try again"}\n'),
     "Blames the harness, to get another try. A worker may not claim that."),
    ("k_closes_channel", "CRASH", os.closerange(3, 1024) or time.sleep(60),
     "Closes the control channel and continues. That ends the call."),
    ("k_deep_json", "PROTOCOL", send(b"[" * 4000 + b"\n"),
     "Sends JSON nested as deep as a frame allows. The parser's recursion error is caught."),
    ("k_empty_lines", "PROTOCOL", flood(b"\n" * 65536), "Floods the channel with empty lines."),
    ("k_endless_frame", "PROTOCOL", flood(b"x" * 65536),
     "Sends a frame without an end. More than 4096 bytes are a protocol error."),
    ("k_forged_value", expected("OK", value=42.0), send(FORGED),
     "Forges its own result, which gains nothing: it could return the same value."),
    ("k_half_frame", "TIMEOUT", send(b'{"event":"result","status":"OK",'),
     "Sends half a frame and waits. The clock runs on."),
    ("k_half_frame_then_exit", "CRASH", channel().sendall(b'{"event":"result"') or os._exit(0),
     "Sends half a frame and dies."),
    ("k_hex_overflow", "PROTOCOL", send(b'{"event":"result","status":"OK","value":"0x1p99999"}\n'),
     "Forges a number beyond the range of a float."),
    ("k_json_infinity", "PROTOCOL", send(b'{"event":"result","status":"OK","value":-Infinity}\n'),
     "Forges an infinity as a JSON number."),
    ("k_not_a_number", "PROTOCOL", send(b'{"event":"result","status":"OK","value":"nan"}\n'),
     "Forges NaN, past the worker's own check."),
    ("k_not_an_object", "PROTOCOL", send(b'["result", "OK", "0x1p0"]\n'), "Sends a JSON array."),
    ("k_not_json", "PROTOCOL", send(b"\xff\xfe\x00\xd8{\n"), "Sends bytes that are neither JSON nor text."),
    ("k_other_fields", expected("OK", value=42.0), send(FORGED.replace(b"}", b"," + OTHERS)),
     "Claims time, memory, another model and another submission. The harness takes none of these from a worker."),
    ("k_repeats_loaded", "PROTOCOL", send(b'{"event":"loaded"}\n'),
     "Says `loaded` again, to have the clock restarted."),
    ("k_second_result", expected("OK", value=42.0), send(20 * FORGED),
     "Forges a second result after the first, for the next call. The call ends with the first frame."),
    ("k_shutdown", "CRASH", channel().shutdown(socket.SHUT_RDWR),
     "Shuts the channel down in both directions, and returns a value."),
    ("k_surrogates", "EXCEPTION",
     send(b'{"event":"result","status":"EXCEPTION","message":"\\ud800\\u0000\\u001b[31m\\udfff"}\n'),
     "Sends lone surrogates and control characters in a message that will be stored and printed."),
    ("k_wrong_types", "PROTOCOL", send(b'{"event":"result","status":["OK"],"value":{},"message":7}\n'),
     "Forges a result of the wrong types."),
]  # fmt: skip
