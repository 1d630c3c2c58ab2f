"""The runtime that a process uses: the first of some that is installed, or the only one that will do."""

from collections.abc import Sequence

from harness.errors import UserError
from harness.worker.runtimes import RUNTIMES, Runtime

#: The runtimes that run models, the one of most tasks first.
PREFERRED = ("tensorflow", "jax", "torch")


def installed_runtime(preferred: Sequence[str]) -> Runtime:
    """Return the first of some runtimes that is installed; raises `UserError` if none is."""
    for name in preferred:
        if not RUNTIMES[name].missing():
            return RUNTIMES[name]
    remedy = f"{RUNTIMES['tensorflow'].install}, or the extra jax or torch"
    raise UserError("no framework is installed", expected="TensorFlow, JAX or PyTorch", found="none", remedy=remedy)


def require_runtime(name: str, purpose: str) -> Runtime:
    """Return a runtime; raises `UserError`, which begins with the purpose, if it is not installed."""
    runtime = RUNTIMES[name]
    if missing := runtime.missing():
        raise UserError(f"{purpose}; not installed: {', '.join(missing)}", remedy=runtime.install)
    return runtime
