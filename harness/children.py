"""Starts all processes of the harness.

A process starts in the root directory, with an isolated interpreter. Its imports depend neither on the user's current
directory, which may hold files of a submission, nor on Python's environment variables.

Some processes have a socket as standard input, over which they exchange messages with the harness. To end such a
process, the harness kills it with its descendants.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

#: A process with binary pipes.
Child = subprocess.Popen[bytes]

#: The directory in which processes start.
ROOT = Path(sys.executable).anchor

#: The directory that contains the package `harness`.
HOME = str(Path(__file__).parents[1])

#: Beginning of a program that imports the harness. The program's first argument is `HOME`.
_FIND_HARNESS = "import sys; home = sys.argv.pop(1); home in sys.path or sys.path.insert(0, home); "

#: Environment variables of the user that processes get: for proxies, for the machine, and with paths of files.
_KEPT_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
_KEPT = {
    "PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
}  # fmt: skip
_KEPT_PATHS = {
    "HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "PGDL_CACHE", "TFDS_DATA_DIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}  # fmt: skip

#: Arguments of `Popen` with which Ctrl-C does not reach the process.
OWN_GROUP: dict[str, Any] = {"start_new_session": True}


def interpreter(program: str, *arguments: str, options: Sequence[str] = ()) -> list[str]:
    """Return a command that runs the code `program` in an isolated interpreter; `arguments` are in `sys.argv[1:]`."""
    return [sys.executable, "-I", "-X", "utf8", *options, "-c", program, *arguments]


def harness_interpreter(program: str, *arguments: str, options: Sequence[str] = ()) -> list[str]:
    """Return a command like that of `interpreter`, but `program` can import the harness."""
    return interpreter(_FIND_HARNESS + program, HOME, *arguments, options=options)


def user_environment(*, downloads: bool) -> dict[str, str]:
    """Return the user's environment variables, without those that may change results, run code or contain a password.

    With `downloads`, addresses of proxies are included, even if they contain a password.
    """
    names = _KEPT | _KEPT_PROXIES if downloads else _KEPT
    kept = {name: value for name, value in os.environ.items() if name.upper() in names}
    paths = {name: str(Path(value).absolute()) for name, value in os.environ.items() if name in _KEPT_PATHS and value}
    return kept | paths


def own_libraries() -> list[str]:
    """Return the directories of LD_LIBRARY_PATH inside Python's installation, which Python may need to start."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return [name for name in named if name and Path(name).resolve().is_relative_to(Path(sys.base_prefix).resolve())]


def popen(command: Sequence[str], environment: Mapping[str, str], **streams: Any) -> Child:
    """Start a program in the root directory.

    Args:
        command: program and arguments. Paths must be absolute.
        environment: all environment variables of the program.
        streams: further arguments of `subprocess.Popen`; standard input is empty by default.
    """
    return subprocess.Popen(command, env=environment, cwd=ROOT, **{"stdin": subprocess.DEVNULL, **streams})


def run(
    command: Sequence[str], environment: Mapping[str, str], *, seconds: float, content: bytes | None = None, **more: Any
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program in the root directory to its end, and return its exit status and output.

    Args:
        command: as for `popen`.
        environment: as for `popen`.
        seconds: time limit; after that, the program is killed and `subprocess.TimeoutExpired` is raised.
        content: standard input; empty for None.
        more: further arguments of `subprocess.run`.
    """
    source = {"stdin": subprocess.DEVNULL} if content is None else {"input": content}
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, timeout=seconds, **{**source, **more}
    )


def start(
    command: Sequence[str], control: int, output: int, environment: Mapping[str, str], *, answers: bool = False
) -> Child:
    """Start a process in a process group of its own.

    Args:
        command: as for `popen`.
        control: file descriptor of the socket that becomes standard input.
        output: file descriptor to which the process prints.
        environment: as for `popen`.
        answers: whether standard output goes to the socket. Standard error always goes to `output`.
    """
    stdout = control if answers else output
    return popen(command, environment, stdin=control, stdout=stdout, stderr=output, **OWN_GROUP)


def kill(child: Child) -> None:
    """Kill the process group of a process.

    Call this before the process is waited for: afterwards, the ID of an empty group may belong to other processes.
    """
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses if all have ended
        os.killpg(child.pid, signal.SIGKILL)
