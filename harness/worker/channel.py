"""The control channel between the harness and a worker: one JSON object per line, at most 4096 bytes."""

import json
import os
from typing import Any, Self

#: Maximum length of a message in bytes, newline included.
MAX_FRAME = 4096

#: File descriptor of the worker's socket. It is the same in every call: a number that depends on the harness' open
#: files would reveal other calls.
SOCKET = 3


def take_input() -> int:
    """Move standard input to a new file descriptor, and return it. Standard input is then empty."""
    taken = os.dup(0)
    with open(os.devnull, "rb") as empty:  # noqa: PTH123
        os.dup2(empty.fileno(), 0)
    return taken


def move_streams() -> tuple[int, int]:
    """Move standard input and output to new file descriptors, and return both. Output then goes to standard error."""
    reader, writer = take_input(), os.dup(1)
    os.dup2(2, 1)
    return reader, writer


class Channel:
    """The worker's end of the control channel. For a socket, `reader` and `writer` are the same file descriptor."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self._pending = b""

    @classmethod
    def at_its_place(cls, socket: int) -> Self:
        """Move a socket to the file descriptor `SOCKET`, and return a channel that uses it."""
        if socket != SOCKET:
            os.dup2(socket, SOCKET, inheritable=False)
        return cls(SOCKET, SOCKET)

    def send(self, **fields: Any) -> None:
        """Send a message. Raise `ValueError` if it is longer than `MAX_FRAME` bytes."""
        frame = json.dumps(fields).encode() + b"\n"
        if len(frame) > MAX_FRAME:
            raise ValueError(f"frame of {len(frame)} bytes, at most {MAX_FRAME} allowed")
        while frame:
            frame = frame[os.write(self._writer, frame) :]

    def receive(self) -> dict[str, Any]:
        """Wait for a message and return it. Raise `EOFError` if the harness has closed the channel."""
        while b"\n" not in self._pending:
            chunk = os.read(self._reader, MAX_FRAME)
            if not chunk:
                raise EOFError("the harness closed the control channel")
            self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        frame: dict[str, Any] = json.loads(line)
        return frame

    def close_others(self) -> None:
        """Close all inherited file descriptors, except the channel's and the standard streams."""
        low, high = sorted((self._reader, self._writer))
        os.closerange(3, low)
        os.closerange(low + 1, high)
        os.closerange(high + 1, 4096)
