"""HTTP servers on loopback."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers requests; `said` is the behaviour of the server."""

    said: Any

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def send(self, status: int, body: bytes = b"", length: int | None = None, **headers: str) -> None:
        """Send an answer; `length` is the announced size, by default that of the body."""
        self.send_response(status)
        size = len(body) if length is None else length
        for name, value in {"Content-Length": str(size), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(
    handler: type[Handler], said: object, name: str = "127.0.0.1", context: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Run a server within the context, with encryption if there is a TLS context; yield its address."""
    bound = type(handler.__name__, (handler,), {"said": said})
    with ThreadingHTTPServer(("127.0.0.1", 0), bound) as server:
        server.daemon_threads = True
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # somebody hung up
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"{'http' if context is None else 'https'}://{name}:{server.server_port}"
        server.shutdown()
