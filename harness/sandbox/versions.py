"""Versions of the libraries that values depend on."""

import platform
from functools import cache

#: What measures compute with, beside Keras.
LIBRARIES = ("tensorflow", "numpy", "scipy", "scikit-learn")


@cache
def library_versions(keras: int) -> str:
    """Return versions of Python and of the libraries that calls find, asked without importing any of them."""
    from importlib import metadata  # here: it takes longer than all else that a sandbox imports

    found = [f"python {platform.python_version()}"]
    for name in ("tf-keras" if keras == 2 else "keras", *LIBRARIES):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)
