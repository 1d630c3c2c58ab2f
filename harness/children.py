"""Starts all processes of the harness.

A process starts in the root directory with an isolated interpreter, which imports nothing from the user's current
directory, where untrusted files may be, or from Python's environment variables.

Some processes talk to the harness over a socket, and are killed together with their descendants. On POSIX, the socket
is the standard input. On Windows, which can wait only for sockets, and whose processes inherit only files and pipes,
threads copy between a socket and the pipes of standard input and output.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

#: Number of bytes per copy.
CHUNK = 64 * 1024

#: The type of a started process, with binary pipes.
Child = subprocess.Popen[bytes]

#: The directory in which processes start.
ROOT = Path(sys.executable).anchor

#: The directory that contains the package `harness`.
HOME = str(Path(__file__).parents[1])

#: Beginning of a program that imports the harness; the program's first argument is `HOME`.
_FIND_HARNESS = "import sys; home = sys.argv.pop(1); home in sys.path or sys.path.insert(0, home); "

#: Names of the user's environment variables that processes get: of the network, of the machine, and paths of files.
_KEPT_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
_KEPT = {
    "PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT",
}  # fmt: skip
_KEPT_PATHS = {
    "HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "PGDL_CACHE", "TFDS_DATA_DIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
}  # fmt: skip

#: Arguments of `Popen` for a process that Ctrl-C does not reach.
OWN_GROUP: dict[str, Any] = {"start_new_session": True}


def interpreter(program: str, *arguments: str, options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs the source `program` with arguments in an isolated interpreter.

    `options` are further options of the interpreter.
    """
    return [sys.executable, "-I", "-X", "utf8", *options, "-c", program, *arguments]


def harness_interpreter(program: str, *arguments: str, options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs a program in an isolated interpreter that can import the harness."""
    return interpreter(_FIND_HARNESS + program, HOME, *arguments, options=options)


def user_environment(*, downloads: bool) -> dict[str, str]:
    """Return the user's environment without variables that could change a value, run code, or contain a password.

    For `downloads`, it has the addresses of proxies, which may contain passwords.
    """
    names = _KEPT | _KEPT_PROXIES if downloads else _KEPT
    kept = {name: value for name, value in os.environ.items() if name.upper() in names}
    paths = {name: str(Path(value).absolute()) for name, value in os.environ.items() if name in _KEPT_PATHS and value}
    return kept | paths


def popen(command: Sequence[str], environment: Mapping[str, str], **streams: Any) -> Child:
    """Start a program in the root directory.

    Args:
        command: program and arguments; paths among them are absolute.
        environment: all environment variables of the process.
        streams: further arguments of `subprocess.Popen`; by default, there is no standard input.
    """
    return subprocess.Popen(command, env=environment, cwd=ROOT, **{"stdin": subprocess.DEVNULL, **streams})


def run(
    command: Sequence[str], environment: Mapping[str, str], *, seconds: float, content: bytes | None = None, **more: Any
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program in the root directory to its end, and return its status and output.

    Args:
        command: as for `popen`.
        environment: all environment variables of the process.
        seconds: time limit.
        content: the bytes of its standard input; by default, there is no standard input.
        more: further arguments of `subprocess.run`.

    Raises:
        subprocess.TimeoutExpired: the process was killed at the time limit.
    """
    source = {"stdin": subprocess.DEVNULL} if content is None else {"input": content}
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, timeout=seconds, **{**source, **more}
    )


if sys.platform != "win32":

    def start(
        command: Sequence[str],
        control: int,
        output: int,
        environment: Mapping[str, str],
        *,
        answers: bool = False,
    ) -> Child:
        """Start a process in a process group of its own.

        Args:
            command: program and arguments.
            control: descriptor of the process' end of a socket.
            output: descriptor for the output of the process.
            environment: all environment variables of the process.
            answers: whether standard output goes to the socket, so that `output` gets only standard error.
        """
        stdout = control if answers else output
        return popen(command, environment, stdin=control, stdout=stdout, stderr=output, **OWN_GROUP)

    def kill(child: Child) -> None:
        """Kill all processes in the group of a process that has not been waited for."""
        with suppress(ProcessLookupError, PermissionError):  # PermissionError on macOS if all have ended
            os.killpg(child.pid, signal.SIGKILL)

    def open_output() -> tuple[IO[bytes], int]:
        """Return a stream of the output of processes, for which a selector can wait, and their end of it."""
        source, sink = os.pipe()
        return os.fdopen(source, "rb", buffering=0), sink

    def never_wait(stream: IO[bytes] | socket.socket) -> None:
        """Let reads from a stream return immediately if there is nothing to read."""
        os.set_blocking(stream.fileno(), False)

else:
    from harness.windows_job import WindowsJob

    class InJob(subprocess.Popen[bytes]):
        """A process of Windows in a job."""

        job: WindowsJob

    OWN_GROUP = {"creationflags": subprocess.CREATE_NO_WINDOW}  # without a console, whose window the user could close

    def start(
        command: Sequence[str],
        control: int,
        output: int,
        environment: Mapping[str, str],
        *,
        answers: bool = False,  # noqa: ARG001 - they always do
    ) -> Child:
        """Start a process whose standard input and output are connected with a socket; for arguments see above."""
        child = InJob(
            command, env=environment, cwd=ROOT, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, **OWN_GROUP,
        )  # fmt: skip
        child.job = WindowsJob(child)
        assert child.stdin is not None
        assert child.stdout is not None
        connect(socket.socket(fileno=socket.dup(control)), child.stdin, child.stdout)
        return child

    def kill(child: Child) -> None:
        """Kill a process and its descendants, including orphans."""
        assert isinstance(child, InJob)
        child.job.kill()

    def open_output() -> tuple[IO[bytes], int]:
        """Return a stream of the output of processes, for which a selector can wait, and their end of it."""
        source, sink = os.pipe()
        ours, theirs = socket.socketpair()
        pipe = os.fdopen(source, "rb", buffering=0)
        _copy(pipe.read, theirs.sendall, pipe.close, lambda: _hang_up(theirs))
        with ours:  # the stream keeps the socket open
            return cast(IO[bytes], ours.makefile("rb", buffering=0)), sink

    def never_wait(stream: IO[bytes] | socket.socket) -> None:
        """Let reads from a stream return immediately if there is nothing to read."""
        with socket.socket(fileno=socket.dup(stream.fileno())) as same:
            same.setblocking(False)


def connect(end: socket.socket, sink: IO[bytes], source: IO[bytes]) -> None:
    """Copy from a socket to an unbuffered pipe, and from another pipe to the socket, and close all at the end."""
    _copy(end.recv, sink.write, sink.close)
    _copy(source.read, end.sendall, source.close, lambda: _hang_up(end))


def _copy(read: Callable[[int], bytes], write: Callable[[bytes], object], *close: Callable[[], object]) -> None:
    """Copy in a thread until the source ends or the target is closed, and then call the functions `close`."""

    def run() -> None:
        with suppress(OSError):
            while chunk := read(CHUNK):
                write(chunk)
        for one in close:
            with suppress(OSError):
                one()

    threading.Thread(target=run, daemon=True).start()


def _hang_up(end: socket.socket) -> None:
    """Close a socket so that another thread that reads from it gets its end."""
    with end, suppress(OSError):  # the other end is closed
        end.shutdown(socket.SHUT_RDWR)
