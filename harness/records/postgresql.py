"""Connections to PostgreSQL that end if the server hangs.

A statement may take any time, as long as the server accepts another connection. A slow server accepts connections; a
hanging server does not.
"""

import os
import socket
import threading
from contextlib import suppress
from typing import Any, Self

import psycopg
from psycopg.errors import ConnectionTimeout
from sqlalchemy import URL, event
from sqlalchemy.engine import Engine

CONNECT_S = 10  #: seconds within which a server must accept a connection
ANSWER_S = 20.0  #: seconds without an answer after which another connection is tried

#: Parameters of libpq that end a connection half a minute after the server's machine became unreachable.
NETWORK = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}


def watch(engine: Engine, url: URL) -> None:
    """Let an engine use `WatchedConnection` with the limits `CONNECT_S` and `NETWORK`; `url` may set other limits."""
    limits = {
        name: value for name, value in (NETWORK | {"connect_timeout": CONNECT_S}).items() if name not in url.query
    }

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, arguments: Any, parameters: dict[str, Any]) -> WatchedConnection:
        return WatchedConnection.open(*arguments, **(parameters | limits))


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that ends with an `OperationalError` if the server hangs."""

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    @classmethod
    def open(cls, *arguments: Any, **parameters: Any) -> Self:
        """Connect to a server; arguments are as for `psycopg.connect`."""
        connection = cls.connect(*arguments, **parameters)
        connection._arguments = arguments, parameters
        return connection

    def wait(self, *arguments: Any, **options: Any) -> Any:
        """Wait for an answer of the server; raise `OperationalError` if it hangs. psycopg calls this method."""
        watch = _Watch(self)
        watch.start()
        try:
            return super().wait(*arguments, **options)
        except psycopg.Error as error:
            if watch.hangs:
                raise psycopg.OperationalError("the server does not answer") from error
            raise
        finally:
            watch.end()

    def is_let_in_again(self) -> bool:
        """Return whether the server answers another connection within `CONNECT_S` seconds, possibly with an error."""
        positional, named = self._arguments
        try:
            psycopg.connect(*positional, **named).close()
        except ConnectionTimeout:
            return False
        except psycopg.Error:
            return True
        return True


class _Watch(threading.Thread):
    """A thread that shuts down a connection's socket if the server hangs, so that waiting for the server ends."""

    def __init__(self, connection: WatchedConnection) -> None:
        super().__init__(name="postgresql", daemon=True)
        self._connection = connection
        self._over = threading.Event()
        self._lock = threading.Lock()
        self.hangs = False

    def run(self) -> None:
        while not self.hangs and not self._over.wait(ANSWER_S):
            if self._connection.is_let_in_again():
                continue
            with self._lock, suppress(OSError, psycopg.Error):
                if not self._over.is_set():  # after `end`, another file may have the socket's number
                    self.hangs = True
                    with socket.socket(fileno=os.dup(self._connection.fileno())) as other:
                        other.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        with self._lock:
            self._over.set()
