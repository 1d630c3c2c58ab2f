"""Versions of the libraries that affect values."""

import platform
from functools import cache

from harness.errors import UserError
from harness.extras import install
from harness.worker.runtimes import RUNTIMES, version_of

#: Libraries that measures compute with, in addition to the framework and Keras.
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def library_versions(runtime: str) -> str:
    """Return the versions of Python and of the libraries available to calls, without importing them.

    Raises `UserError` if the runtime is not installed.
    """
    chosen = RUNTIMES[runtime]
    if missing := chosen.missing():
        raise UserError(f"runtime {runtime}: not installed: {', '.join(missing)}", remedy=install(chosen.extra))
    found = [f"python {platform.python_version()}"]
    for name in (*chosen.distributions, *LIBRARIES):
        version = version_of(name)
        found.append(f"{name} {version}" if version else f"no {name}")
    return ", ".join(found)
