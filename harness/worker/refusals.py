"""Explains errors that the sandbox causes in a submission, such as a failed connection to the internet."""

import errno
import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness.worker.limits import MEMORY_LIMIT

NETWORK = "the sandbox has no network"
SYSTEM_CALL = "the sandbox has no network, and refuses some system calls"
PROGRAM = "the sandbox has the programs of /usr/bin and /bin only"

#: Parts of messages of libraries that have no network, or cannot start a thread.
_OF_NETWORK = ("name resolution", "Name or service not known", "Network is unreachable", "URL fetch failure")
_OF_THREADS = ("can't start new thread", "pthread_create")

#: Exit statuses of a shell that may not start a program, or does not find it.
_NO_PROGRAM = (126, 127)


def refusal(error: BaseException, submission: Path) -> str:
    """Return how the sandbox caused an error, as the end of a message; empty if the error has another cause."""
    if not _is_confined():
        return ""
    sentences = (_sentence(one, submission) for one in _chain(error))
    return next((f" ({sentence})" for sentence in sentences if sentence), "")


def _is_confined() -> bool:
    """Return whether this process has a system-call filter. In every sandbox, processes have a filter."""
    try:
        return b"\nSeccomp:\t2\n" in Path("/proc/self/status").read_bytes()
    except OSError:
        return False


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen, one = set[int](), error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__  # type: ignore[assignment]


def _sentence(error: BaseException, submission: Path) -> str:
    if isinstance(error, MemoryError):
        return f"the sandbox limits a call to {int(os.environ[MEMORY_LIMIT]) >> 20} MiB of memory"
    if isinstance(error, subprocess.CalledProcessError) and error.returncode in _NO_PROGRAM:
        return PROGRAM
    text = str(error)
    if isinstance(error, socket.gaierror) or any(part in text for part in _OF_NETWORK):
        return NETWORK
    if any(part in text for part in _OF_THREADS):
        return _of_processes()
    return _of_system(error, submission) if isinstance(error, OSError) else ""


def _of_processes() -> str:
    return f"the sandbox limits a call to {_limit('RLIMIT_NPROC')} processes and threads: start fewer"


def _limit(name: str) -> int:
    return resource.getrlimit(getattr(resource, name))[0]


def _of_system(error: OSError, submission: Path) -> str:
    number, file = error.errno, error.filename
    path = Path(os.fsdecode(file)) if isinstance(file, str | bytes | os.PathLike) else None
    if number == errno.EAGAIN:
        return _of_processes()
    if number == errno.EMFILE:
        return f"the sandbox limits a process to {_limit('RLIMIT_NOFILE')} open files"
    if number in (errno.ENOSPC, errno.EFBIG):
        return f"the sandbox limits a call to {_limit('RLIMIT_FSIZE') >> 20} MiB of files under {_scratch()}"
    if number == errno.ENETUNREACH:
        return NETWORK
    if number in (errno.EPERM, errno.EACCES, errno.EROFS):
        return SYSTEM_CALL if path is None else _of_files(path, submission)
    if number == errno.ENOTDIR and str(file).startswith(os.devnull):  # the directory to which Keras downloads files
        return f"{NETWORK}, so that Keras can download nothing"
    if number == errno.ENOENT and path is not None:
        return _of_missing(error, path, submission)
    return ""


def _of_missing(error: OSError, file: Path, submission: Path) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and trace.tb_frame.f_globals.get("__name__") == "subprocess":
        return PROGRAM
    if not file.is_absolute() and (submission / file).exists():
        return f"it is beside complexity.py: open Path(__file__).parent / {str(file)!r}"
    return _of_files(file, submission) if not file.is_relative_to(submission) else ""


def _of_files(file: Path, submission: Path) -> str:
    if file.is_relative_to(submission):
        return f"in the sandbox only {_scratch()} can be written to"
    own = "the submission's own files, in Path(__file__).parent, and Python's"
    return f"the sandbox shows {own}; only {_scratch()} can be written to"


def _scratch() -> str:
    """Return the directory in which submissions may write.

    `tempfile` is not asked, because it fails while the disk is full.
    """
    return os.environ["TMPDIR"]
