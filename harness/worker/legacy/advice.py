"""Tells whether code of 2020 failed for want of what Keras 2 and the names of then would give it."""

import re

from harness.worker.legacy.names import restored_names

#: Messages of Keras 3 and NumPy about what they no longer take.
_MESSAGES = re.compile(r"Argument\(s\) not recognized: \{'(lr|decay)'|not supported in Keras 3|inhomogeneous shape")

#: What Python says of a module that lacks a name: when it is imported from there, and when it is looked up.
_LACKING = (
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
)


def would_be_cured(error: BaseException) -> bool:
    """Whether `keras: 2` in the metadata may cure an error that a submission raised under another runtime."""
    if not isinstance(error, AttributeError | ImportError | TypeError | ValueError):
        return False
    message = str(error)
    if isinstance(error, AttributeError) and _is_keras(type(error.obj).__module__):
        return True
    for pattern in _LACKING:
        if match := pattern.search(message):
            return _is_keras(match["module"]) or match["name"] in restored_names().get(match["module"], ())
    return _MESSAGES.search(message) is not None


def _is_keras(module: str) -> bool:
    return module.split(".")[0] == "keras"
