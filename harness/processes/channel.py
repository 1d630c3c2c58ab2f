"""The connection between client and service, which send each other JSON values, one per line."""

import json
import socket
from typing import Any

from harness.parsing import parse_json

#: Maximum size of a line in bytes, newline included.
MAX_LINE = 2**26


class ProcessChannel:
    """An end of the connection between client and service."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lines = connection, connection.makefile("rb")

    def send(self, value: Any) -> None:
        """Send a JSON value. Raise `OSError` if the other end is closed, `ValueError` if the line is too long."""
        line = json.dumps(value).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise ValueError(f"a line of {len(line)} bytes, at most {MAX_LINE} are allowed")
        self._connection.settimeout(None)
        self._connection.sendall(line)

    def receive(self, seconds: float | None = None) -> Any:
        """Wait for a value and return it.

        Raise `EOFError` if the other end is closed, `TimeoutError` if nothing arrives for `seconds`, and `ValueError`
        if the line is too long, is not JSON, or exceeds a limit of `parse_json`.
        """
        self._connection.settimeout(seconds)
        try:
            line = self._lines.readline(MAX_LINE + 1)
        except ConnectionError as error:
            raise EOFError from error
        if len(line) > MAX_LINE:
            raise ValueError(f"more than {MAX_LINE} bytes")
        if not line.endswith(b"\n"):
            raise EOFError
        return parse_json(line)

    def close(self) -> None:
        """Close this end."""
        self._lines.close()
        self._connection.close()
