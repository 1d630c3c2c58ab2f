"""Makes a process imitate a Mac for the project's code; its directory belongs on PYTHONPATH.

In the modules below, the project finds the names that exist on a Mac, and no others. Libraries see the real machine.
"""

import builtins
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

#: The packages whose modules are shown a Mac.
OURS = ("baselines", "harness", "scoring")

#: Module -> its missing names on all systems but Linux.
ONLY_LINUX = {
    "os": "sched_getaffinity memfd_create pidfd_open setns unshare O_PATH eventfd setresuid",
    "resource": "prlimit",
}
MISSING = {"landlockpy", "pyseccomp"}

#: Beginning of a program whose process imitates a Mac.
HERE = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import sitecustomize; sys.path.pop(0); "


def there(command: Any) -> Any:
    """Return the command of an isolated interpreter, which ignores PYTHONPATH, with code that imitates a Mac."""
    if command[:2] != [sys.executable, "-I"] or "-c" not in command:
        return command
    place = command.index("-c") + 1
    return [*command[:place], HERE + command[place], *command[place + 1 :]]


class Popen(subprocess.Popen[bytes]):
    def __init__(self, command: Any, *more: Any, **named: Any) -> None:
        super().__init__(there(command), *more, **named)


def setrlimit(kind: int, limits: tuple[int, int]) -> None:
    """Refuse to limit the address space, as a Mac does."""
    if kind == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    resource.setrlimit(kind, limits)


#: Module -> names that differ on a Mac.
MORE: dict[str, dict[str, Any]] = {
    "platform": {"system": lambda: "Darwin"},
    "resource": {"setrlimit": setrlimit},
    "subprocess": {"Popen": Popen, "run": lambda command, **named: subprocess.run(there(command), **named)},
    "sys": {"platform": "darwin"},
}


class Seen(ModuleType):
    """A module as a Mac has it; attributes that are set go to the real module."""

    def __init__(self, name: str, module: Any) -> None:
        more = MORE.get(name, {})
        absent = frozenset(ONLY_LINUX.get(name, "").split())
        vars(self).update(__name__=name, _module=module, _more=more, _absent=absent)

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
    """Replace `__import__`: the project's code imports modules as on a Mac, and all other code the real modules."""
    package = variables and (variables.get("__package__") or variables.get("__name__"))
    ours = package and package.partition(".")[0] in OURS
    if not ours or name not in CHANGED:
        return imported(name, variables, *more, **named)
    if name in MISSING:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if name not in seen:
        seen[name] = Seen(name, imported(name))
    return seen[name]


def no_proc(event: str, arguments: tuple[object, ...]) -> None:
    """Hide /proc and /sys, except from psutil, which needs neither on a Mac."""
    reads = event in ("open", "os.listdir", "os.scandir", "os.readlink")
    if reads and str(arguments[0]).startswith(("/proc", "/sys")) and not is_of_psutil(sys._getframe()):
        raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


def is_of_psutil(frame: FrameType | None) -> bool:
    return frame is not None and ("psutil" in frame.f_code.co_filename or is_of_psutil(frame.f_back))


CHANGED = {*ONLY_LINUX, *MORE, *MISSING}
seen: dict[str, Seen] = {}
imported = builtins.__import__
builtins.__import__ = of_that_system
sys.addaudithook(no_proc)
if sys.flags.warn_default_encoding:  # the default encoding may lack characters
    warnings.filterwarnings("error", category=EncodingWarning, module=rf"({'|'.join(OURS)})\b")
