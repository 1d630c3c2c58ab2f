"""The control channel between the harness and a worker: one JSON object per line, at most 4096 bytes."""

import json
import socket
from typing import Any

#: Longest frame in bytes, newline included; anything longer is a protocol error.
MAX_FRAME = 4096


class Channel:
    """Line-wise JSON over a connected stream socket, blocking; the worker's end of the conversation."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._pending = b""

    def send(self, **fields: Any) -> None:
        """Send one frame."""
        frame = json.dumps(fields).encode() + b"\n"
        if len(frame) > MAX_FRAME:
            raise ValueError(f"frame of {len(frame)} bytes, at most {MAX_FRAME} allowed")
        self._socket.sendall(frame)

    def receive(self) -> dict[str, Any]:
        """Wait for one frame; raises `EOFError` when the harness is gone."""
        while b"\n" not in self._pending:
            chunk = self._socket.recv(MAX_FRAME)
            if not chunk:
                raise EOFError("the harness closed the control channel")
            self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        frame: dict[str, Any] = json.loads(line)
        return frame
