"""The directory of the GPU driver's libraries, where the loader of a sandbox would not find it."""

import os
from functools import cache
from pathlib import Path

from harness import children
from harness.sandbox.devices import find_gpus

#: The library through which every framework reaches the driver.
LIBRARY = "libcuda.so.1"

#: Directories of the driver on systems that do not tell the loader about them: containers of some clouds, WSL, NixOS.
USUAL = ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib", "/run/opengl-driver/lib")

#: Loads the library, which initialises nothing, and prints where it is.
LOAD = f"import ctypes; ctypes.CDLL({LIBRARY!r}); print(*open('/proc/self/maps'))"


def search_path() -> list[Path]:
    """Return the directories that a call's loader must search besides the system's own; empty without a GPU.

    Every sandbox shows the system's own; these are shown to calls with a GPU, and set as LD_LIBRARY_PATH.
    """
    return list(_search_path(os.environ.get("LD_LIBRARY_PATH", ""))) if find_gpus() else []


def library() -> Path | None:
    """Return the path of the driver's library, None if there is none in any place that is searched."""
    known = _known_to_loader()
    found = [directory / LIBRARY for directory in search_path()]
    return found[0] if found else known


@cache
def _search_path(given: str) -> tuple[Path, ...]:
    known = _known_to_loader()
    if known is not None and known.is_relative_to("/usr"):
        return ()
    directories = [Path(name) for name in (*given.split(":"), *USUAL) if name.startswith("/")]
    first = next((directory for directory in directories if (directory / LIBRARY).exists()), None)
    if first is None:
        return () if known is None else (known.parent,)
    return tuple(dict.fromkeys((first, (first / LIBRARY).resolve().parent)))  # it may be a link into another one


@cache
def _known_to_loader() -> Path | None:
    """Return the library that the loader finds without LD_LIBRARY_PATH, links resolved; None if it finds none."""
    without = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = children.run(children.interpreter(LOAD, options=("-S",)), without, seconds=60)
    paths = (line.split(maxsplit=5)[-1] for line in os.fsdecode(done.stdout).splitlines() if "/libcuda.so" in line)
    return next((Path(path) for path in paths), None)
