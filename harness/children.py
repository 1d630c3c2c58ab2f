"""Processes that the harness talks to over a socket, and kills together with those that they have started.

On POSIX, the socket is their standard input. Windows waits for sockets only, and its processes inherit files and pipes
only: there, they talk through standard input and output, and threads copy between pipes and sockets.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, cast

#: Bytes that are copied at once.
CHUNK = 64 * 1024

#: A process, whose pipes are no text.
Child = subprocess.Popen[bytes]

#: Arguments of `Popen` for a process that Ctrl-C does not reach.
OWN_GROUP: dict[str, Any] = {"start_new_session": True}

if sys.platform != "win32":

    def start(
        command: Sequence[str],
        control: int,
        output: int,
        environment: Mapping[str, str],
        *,
        answers: bool = False,
    ) -> Child:
        """Start a process in a group of its own.

        Args:
            command: program and arguments.
            control: descriptor of its end of a socket.
            output: descriptor of what it prints to.
            environment: all of its environment variables.
            answers: whether its standard output is for the harness, and only its errors are printed.
        """
        return subprocess.Popen(
            command, env=environment, stdin=control, stdout=control if answers else output, stderr=output, **OWN_GROUP
        )

    def kill(child: Child) -> None:
        """Kill a process that has not been waited for, and the others of its group."""
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses it where all have ended
            os.killpg(child.pid, signal.SIGKILL)

    def open_output() -> tuple[IO[bytes], int]:
        """Return a stream of what processes print, for which a selector can wait, and the descriptor for them."""
        source, sink = os.pipe()
        return os.fdopen(source, "rb", buffering=0), sink

    def never_wait(stream: IO[bytes] | socket.socket) -> None:
        """Let reading from a stream return at once where there is nothing to read."""
        os.set_blocking(stream.fileno(), False)

else:
    from harness.windows_job import Job

    class InJob(subprocess.Popen[bytes]):
        """A process of Windows in a job."""

        job: Job

    OWN_GROUP = {"creationflags": subprocess.CREATE_NO_WINDOW}  # with no console, whose window may be closed, either

    def start(
        command: Sequence[str],
        control: int,
        output: int,
        environment: Mapping[str, str],
        *,
        answers: bool = False,  # noqa: ARG001 - they always do
    ) -> Child:
        """Start a process whose standard input and output are connected with a socket, see above."""
        child = InJob(
            command, env=environment, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, **OWN_GROUP,
        )  # fmt: skip
        child.job = Job(child)
        assert child.stdin is not None
        assert child.stdout is not None
        connect(socket.socket(fileno=socket.dup(control)), child.stdin, child.stdout)
        return child

    def kill(child: Child) -> None:
        """Kill a process and its descendants, also those that it has left behind."""
        assert isinstance(child, InJob)
        child.job.kill()

    def open_output() -> tuple[IO[bytes], int]:
        """Return a stream of what processes print, for which a selector can wait, and the descriptor for them."""
        source, sink = os.pipe()
        ours, theirs = socket.socketpair()
        pipe = os.fdopen(source, "rb", buffering=0)
        _copy(pipe.read, theirs.sendall, pipe.close, lambda: _hang_up(theirs))
        with ours:  # it is closed with the stream
            return cast(IO[bytes], ours.makefile("rb", buffering=0)), sink

    def never_wait(stream: IO[bytes] | socket.socket) -> None:
        """Let reading from a stream return at once where there is nothing to read."""
        with socket.socket(fileno=socket.dup(stream.fileno())) as same:
            same.setblocking(False)


def connect(end: socket.socket, sink: IO[bytes], source: IO[bytes]) -> None:
    """Copy what comes from a socket to an unbuffered pipe, and to it what comes from another; closes all in the end."""
    _copy(end.recv, sink.write, sink.close)
    _copy(source.read, end.sendall, source.close, lambda: _hang_up(end))


def _copy(read: Callable[[int], bytes], write: Callable[[bytes], object], *close: Callable[[], object]) -> None:
    """Copy in a thread until there is nothing left to read, or nobody who reads it; then close what is to be closed."""

    def run() -> None:
        with suppress(OSError):
            while chunk := read(CHUNK):
                write(chunk)
        for one in close:
            with suppress(OSError):
                one()

    threading.Thread(target=run, daemon=True).start()


def _hang_up(end: socket.socket) -> None:
    """Close a socket, from which another thread may be reading."""
    with end, suppress(OSError):  # the other end is gone
        end.shutdown(socket.SHUT_RDWR)
