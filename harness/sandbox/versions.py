"""Versions of the libraries that affect values."""

import platform
from functools import cache

from harness.errors import UserError
from harness.worker.runtimes import RUNTIMES

#: Libraries that measures compute with, in addition to the framework and Keras.
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def library_versions(runtime: str) -> str:
    """Return the versions of Python and of the libraries available to calls, without importing them.

    Raises `UserError` if the runtime is not installed.
    """
    from importlib import metadata  # here: it takes longer than all other imports of this room

    chosen = RUNTIMES[runtime]
    if missing := chosen.missing():
        remedy = f"{chosen.install}, or choose another runtime"
        raise UserError(f"runtime {runtime}: not installed: {', '.join(missing)}", remedy=remedy)
    found = [f"python {platform.python_version()}"]
    for name in (*chosen.distributions, *LIBRARIES):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)
