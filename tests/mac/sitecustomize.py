"""Makes a process of this machine one of a Mac, as far as Python code can tell: put its directory onto PYTHONPATH.

The libraries that decide by the platform what they are made of are imported before.
"""

import importlib
import sys

BEFORE = "concurrent.futures ctypes matplotlib.font_manager multiprocessing psutil subprocess urllib.request uuid"
for _name in BEFORE.split():
    importlib.import_module(_name)

import sysconfig  # noqa: E402

sysconfig.get_config_vars()

import os  # noqa: E402 - after them, as all that follows
import platform  # noqa: E402
import resource  # noqa: E402
import subprocess  # noqa: E402
from pathlib import Path  # noqa: E402
from types import FrameType  # noqa: E402

for _module, _names in {
    os: ("sched_getaffinity", "memfd_create", "pidfd_open", "setns", "unshare", "O_PATH", "eventfd", "setresuid"),
    resource: ("prlimit",),
}.items():
    for _name in _names:
        if hasattr(_module, _name):
            delattr(_module, _name)


class _OnlyOnLinux:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in ("landlockpy", "pyseccomp"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _no_proc(event: str, arguments: tuple[object, ...]) -> None:
    """There is no /proc, and no /sys, but for psutil, which has other ways there."""
    reads = event in ("open", "os.listdir", "os.scandir", "os.readlink")
    if reads and str(arguments[0]).startswith(("/proc", "/sys")) and not _is_of_psutil(sys._getframe()):
        raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


def _is_of_psutil(frame: FrameType | None) -> bool:
    return frame is not None and ("psutil" in frame.f_code.co_filename or _is_of_psutil(frame.f_back))


#: Beginning of a program that makes its process one of a Mac.
HERE = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import sitecustomize; sys.path.pop(0); "


class _Popen(subprocess.Popen[bytes]):
    """Starts programs of isolated interpreters, which ignore PYTHONPATH, as processes of a Mac, too."""

    def __init__(self, args: list[str], *more: object, **named: object) -> None:
        if args[:3] == [sys.executable, "-I", "-B"] and "-c" in args:
            place = args.index("-c") + 1
            args = [*args[:place], HERE + args[place], *args[place + 1 :]]
        super().__init__(args, *more, **named)  # type: ignore[call-overload]


subprocess.Popen = _Popen  # type: ignore[misc]
platform.system = lambda: "Darwin"
sys.meta_path.insert(0, _OnlyOnLinux())
sys.addaudithook(_no_proc)
sys.platform = "darwin"
