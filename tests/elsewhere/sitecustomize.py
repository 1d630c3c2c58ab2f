"""Makes a process one of another system, as far as the project's code can tell: put its directory onto PYTHONPATH.

`PGDL_TEST_SYSTEM` names the system: `darwin` or `win32`. Modules of the project that import one of the modules below
get it without what it lacks there, and with what it has there alone. Libraries see this machine as it is.
"""

import builtins
import fcntl
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import psutil

SYSTEM = "PGDL_TEST_SYSTEM"
system = os.environ[SYSTEM]

#: The packages whose modules are shown another system.
OURS = ("baselines", "harness", "scoring")

#: Module -> what it lacks on all other systems than Linux, and on Windows.
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

#: Beginning of a program that makes its process one of that system.
HERE = (
    f"import os, sys; os.environ[{SYSTEM!r}] = {system!r}; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
    "import sitecustomize; sys.path.pop(0); "
)


class Popen(subprocess.Popen[bytes]):
    """Starts programs of isolated interpreters, which ignore PYTHONPATH, as processes of that system, too."""

    def __init__(self, args: Any, *more: Any, creationflags: int = 0, **named: Any) -> None:
        if args[:3] == [sys.executable, "-I", "-B"] and "-c" in args:
            place = args.index("-c") + 1
            args = [*args[:place], HERE + args[place], *args[place + 1 :]]
        named = {"start_new_session": creationflags == GROUP} | named
        super().__init__(args, *more, **named)


def locking(descriptor: int, mode: int, size: int) -> None:
    fcntl.flock(descriptor, mode)


#: The flag of a new process group. Elsewhere, `Popen` refuses flags.
GROUP = 0x200

#: Module -> what it has there alone.
MORE: dict[str, dict[str, Any]] = {
    "platform": {"system": lambda: {"darwin": "Darwin", "win32": "Windows"}[system]},
    "subprocess": {"Popen": Popen},
    "sys": {"platform": system},
}
if system == "win32":
    MORE["os"] = {"O_BINARY": 0, "environ": os.environ}
    MORE["subprocess"] |= {"CREATE_NEW_PROCESS_GROUP": GROUP}
    MORE["msvcrt"] = {"LK_NBLCK": fcntl.LOCK_EX | fcntl.LOCK_NB, "locking": locking}
    MORE["_winapi"] = {
        "INFINITE": None,
        "OpenProcess": lambda _rights, _inherit, pid: psutil.Process(pid),
        "WaitForSingleObject": lambda process, seconds: process.wait(seconds),
    }
    os.environ.setdefault("SYSTEMROOT", "/")


class Seen(ModuleType):
    """A module as it is on that system; what is set goes to the module of this one."""

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
    """Import for modules of the project what that system has, and for all others what is there."""
    package = variables and (variables.get("__package__") or variables.get("__name__"))
    ours = package and package.partition(".")[0] in OURS
    if not ours or name not in CHANGED:
        return imported(name, variables, *more, **named)
    if name in MISSING:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if name not in seen:
        module = SimpleNamespace() if name in ("msvcrt", "_winapi") else imported(name)
        seen[name] = Seen(name, module)
    return seen[name]


def no_proc(event: str, arguments: tuple[object, ...]) -> None:
    """There is no /proc, and no /sys, but for psutil, which has other ways there."""
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
