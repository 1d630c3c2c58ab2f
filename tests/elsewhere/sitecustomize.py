"""Makes a process imitate another system for the project's code; its directory belongs on PYTHONPATH.

`PGDL_TEST_SYSTEM` names the system: `darwin` or `win32`. In the modules below, the project finds the names that exist
on that system, and no others. Libraries see the real machine.
"""

import builtins
import contextlib
import os
import resource
import selectors
import signal
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

SYSTEM = "PGDL_TEST_SYSTEM"
system = os.environ[SYSTEM]

#: The packages whose modules are shown another system.
OURS = ("baselines", "harness", "scoring")

#: Module -> its missing names on all systems but Linux, and on Windows.
ONLY_LINUX = {
    "os": "sched_getaffinity memfd_create pidfd_open setns unshare O_PATH eventfd setresuid",
    "resource": "prlimit",
}
NOT_WINDOWS = {
    "os": "chown fork getuid geteuid killpg pread pwrite setsid set_blocking statvfs sysconf O_DIRECTORY O_NOFOLLOW "
    "O_NONBLOCK",
    "signal": "SIGALRM SIGCHLD SIGKILL SIGPIPE SIGXCPU setitimer",
    "socket": "AF_UNIX SO_PEERCRED recv_fds send_fds",
}
MISSING = {"landlockpy", "pyseccomp"} | ({"fcntl", "grp", "pwd", "resource", "termios"} if system == "win32" else set())

#: Beginning of a program whose process imitates that system.
HERE = (
    f"import os, sys; os.environ[{SYSTEM!r}] = {system!r}; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
    "import sitecustomize; sys.path.pop(0); "
)

#: The flag of a process without a console. Elsewhere, `Popen` refuses flags.
NO_WINDOW = 0x08000000


def there(command: Any) -> Any:
    """Return the command of an isolated interpreter, which ignores PYTHONPATH, with code that imitates the system."""
    if command[:2] != [sys.executable, "-I"] or "-c" not in command:
        return command
    place = command.index("-c") + 1
    return [*command[:place], HERE + command[place], *command[place + 1 :]]


class Popen(subprocess.Popen[bytes]):
    def __init__(self, command: Any, *more: Any, creationflags: int = 0, **named: Any) -> None:
        named = {"start_new_session": creationflags == NO_WINDOW} | named
        super().__init__(there(command), *more, **named)


class SocketsOnly(selectors.DefaultSelector):
    """A selector that accepts only sockets, as on Windows."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        if not stat.S_ISSOCK(os.fstat(fileobj.fileno()).st_mode):
            raise OSError(10038, "An operation was attempted on something that is not a socket")
        return super().register(fileobj, events, data)


def setrlimit(kind: int, limits: tuple[int, int]) -> None:
    """Refuse to limit the address space, as a Mac does."""
    if kind == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    resource.setrlimit(kind, limits)


class WindowsJob:
    """Replaces `harness.windows_job`, whose system calls exist on Windows only."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


#: Module -> names that exist only on that system.
MORE: dict[str, dict[str, Any]] = {
    "platform": {"system": lambda: {"darwin": "Darwin", "win32": "Windows"}[system]},
    "subprocess": {"Popen": Popen, "run": lambda command, **named: subprocess.run(there(command), **named)},
    "sys": {"platform": system},
}
if system == "darwin":
    MORE["resource"] = {"setrlimit": setrlimit}
if system == "win32":
    MORE["os"] = {"O_BINARY": 0}
    MORE["subprocess"] |= {"CREATE_NO_WINDOW": NO_WINDOW}
    MORE["selectors"] = {"DefaultSelector": SocketsOnly}
    MORE["harness.windows_job"] = {"WindowsJob": WindowsJob}
    os.environ.setdefault("SYSTEMROOT", "/")


class Seen(ModuleType):
    """A module as the imitated system has it; attributes that are set go to the real module."""

    def __init__(self, name: str, module: Any) -> None:
        more = MORE.get(name, {})
        absent = f"{ONLY_LINUX.get(name, '')} {NOT_WINDOWS.get(name, '') if system == 'win32' else ''}".split()
        vars(self).update(__name__=name, _module=module, _more=more, _absent=frozenset(absent))

    def __getattr__(self, name: str) -> Any:
        seen = vars(self)
        if name in seen["_more"]:
            return seen["_more"][name]
        if name in seen["_absent"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(seen["_module"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_module"], name, value)


def of_that_system(name: str, variables: Any = None, *more: Any, **named: Any) -> Any:
    """Import modules of the imitated system for the project's modules, and real modules for all others."""
    package = variables and (variables.get("__package__") or variables.get("__name__"))
    ours = package and package.partition(".")[0] in OURS
    if not ours or name not in CHANGED:
        return imported(name, variables, *more, **named)
    if name in MISSING:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if name not in seen:
        module = SimpleNamespace() if name == "harness.windows_job" else imported(name)
        seen[name] = Seen(name, module)
    return seen[name]


def no_proc(event: str, arguments: tuple[object, ...]) -> None:
    """Hide /proc and /sys, except from psutil, which needs neither on the imitated system."""
    reads = event in ("open", "os.listdir", "os.scandir", "os.readlink")
    if reads and str(arguments[0]).startswith(("/proc", "/sys")) and not is_of_psutil(sys._getframe()):
        raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


def is_of_psutil(frame: FrameType | None) -> bool:
    return frame is not None and ("psutil" in frame.f_code.co_filename or is_of_psutil(frame.f_back))


CHANGED = {*ONLY_LINUX, *MORE, *MISSING, *(NOT_WINDOWS if system == "win32" else ())}
seen: dict[str, Seen] = {}
imported = builtins.__import__
builtins.__import__ = of_that_system
sys.addaudithook(no_proc)
if sys.flags.warn_default_encoding:  # the encoding of Windows has few characters
    warnings.filterwarnings("error", category=EncodingWarning, module=rf"({'|'.join(OURS)})\b")
