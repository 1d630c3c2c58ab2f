"""The control channel between the harness and a worker: one JSON object per line, at most 4096 bytes."""

import json
import os
from typing import Any

#: Longest frame in bytes, newline included; anything longer is a protocol error.
MAX_FRAME = 4096


class Channel:
    """Line-wise JSON over a pair of descriptors, blocking; the worker's end of the conversation.

    A socket is both of them.
    """

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self._pending = b""

    def send(self, **fields: Any) -> None:
        """Send one frame."""
        frame = json.dumps(fields).encode() + b"\n"
        if len(frame) > MAX_FRAME:
            raise ValueError(f"frame of {len(frame)} bytes, at most {MAX_FRAME} allowed")
        while frame:
            frame = frame[os.write(self._writer, frame) :]

    def receive(self) -> dict[str, Any]:
        """Wait for one frame; raises `EOFError` when the harness is gone."""
        while b"\n" not in self._pending:
            chunk = os.read(self._reader, MAX_FRAME)
            if not chunk:
                raise EOFError("the harness closed the control channel")
            self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        frame: dict[str, Any] = json.loads(line)
        return frame

    def close_others(self) -> None:
        """Close every inherited descriptor that is neither the channel's nor a standard stream."""
        low, high = sorted((self._reader, self._writer))
        os.closerange(3, low)
        os.closerange(low + 1, high)
        os.closerange(high + 1, 4096)
