"""The worker's end of the control channel: one JSON object per line."""

import json
import socket
from collections.abc import Iterator

import pytest

from harness.worker.channel import MAX_FRAME, Channel


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Channel]]:
    """The harness' end, and the worker's."""
    ours, theirs = socket.socketpair()
    yield ours, Channel(theirs.fileno(), theirs.fileno())
    ours.close()
    theirs.close()


def test_a_frame_is_one_line_of_json(ends: tuple[socket.socket, Channel]) -> None:
    harness, worker = ends
    worker.send(event="result", status="EXCEPTION", message="two\nlines")
    line = harness.recv(MAX_FRAME)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert json.loads(line) == {"event": "result", "status": "EXCEPTION", "message": "two\nlines"}


def test_frames_may_arrive_in_pieces_or_together(ends: tuple[socket.socket, Channel]) -> None:
    harness, worker = ends
    harness.sendall(b'{"seed": 1}\n{"ev')
    assert worker.receive() == {"seed": 1}
    harness.sendall(b'ent": "go"}\n{"event": "stop"}\n')
    assert worker.receive() == {"event": "go"}
    assert worker.receive() == {"event": "stop"}


def test_a_frame_has_a_bounded_length(ends: tuple[socket.socket, Channel]) -> None:
    harness, worker = ends
    text = "x" * (MAX_FRAME - len(b'{"message": ""}\n'))
    worker.send(message=text)
    assert len(harness.recv(2 * MAX_FRAME)) == MAX_FRAME
    with pytest.raises(ValueError, match=f"frame of {MAX_FRAME + 1} bytes, at most {MAX_FRAME} allowed"):
        worker.send(message=text + "x")
    harness.setblocking(False)
    with pytest.raises(BlockingIOError):
        harness.recv(1)


def test_without_a_harness_there_is_nothing_to_wait_for(ends: tuple[socket.socket, Channel]) -> None:
    harness, worker = ends
    harness.sendall(b'{"seed"')
    harness.close()
    with pytest.raises(EOFError, match="the harness closed the control channel"):
        worker.receive()
