"""Versions of the libraries that affect values."""

import platform
from functools import cache

#: Libraries that measures compute with, in addition to Keras.
LIBRARIES = ("tensorflow", "numpy", "scipy", "scikit-learn")


@cache
def library_versions(keras: int) -> str:
    """Return the versions of Python and of the libraries available to calls, without importing them."""
    from importlib import metadata  # here: it takes longer than all other imports of this room

    found = [f"python {platform.python_version()}"]
    for name in ("tf-keras" if keras == 2 else "keras", *LIBRARIES):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)
