"""Chooses the runtime of a process, and sets its environment variables."""

import os
from collections.abc import Sequence
from pathlib import Path

from harness.cache import home_needed
from harness.children import user_environment
from harness.cores import THREADS
from harness.errors import UserError
from harness.extras import install
from harness.worker.runtimes import RUNTIMES, Runtime

#: Names of runtimes for models of tasks, the preferred runtime first.
PREFERRED = ("tensorflow", "jax", "torch")

#: Names of the same runtimes, the one that starts fastest first.
QUICKEST = ("jax", "torch", "tensorflow")


def installed_runtime(preferred: Sequence[str]) -> Runtime:
    """Return the first runtime in `preferred` that is installed. Raise `UserError` if none is installed."""
    for name in preferred:
        if not RUNTIMES[name].missing():
            return RUNTIMES[name]
    remedy = f"{install('tensorflow')}, or the extra jax or torch"
    raise UserError("no framework is installed", expected="TensorFlow, JAX or PyTorch", found="none", remedy=remedy)


def require_tensorflow(purpose: str) -> Runtime:
    """Return TensorFlow's runtime. Raise `UserError`, whose message begins with `purpose`, if it is not installed."""
    runtime = RUNTIMES["tensorflow"]
    if missing := runtime.missing():
        raise UserError(f"{purpose}; not installed: {', '.join(missing)}", remedy=install(runtime.extra))
    return runtime


def environment(runtime: Runtime, threads: int, gpu: bool | str, *, own_data: bool) -> dict[str, str]:
    """Return the environment variables of a process with `threads` cores.

    `gpu` is False for no GPU, the UUID of one GPU, or True for all GPUs that this process sees. With `own_data`, the
    process also gets the directory of Keras' datasets, and addresses of proxies, even if they contain a password.
    """
    seen = {} if gpu is True else {"CUDA_VISIBLE_DEVICES": gpu or "-1"}
    framework = runtime.environment(threads, gpu=bool(gpu))
    datasets: dict[str, str] = {}
    if own_data:
        with home_needed("KERAS_HOME"):
            kept = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras")
        datasets = {"KERAS_HOME": str(kept.absolute())}
    return user_environment(downloads=own_data) | dict.fromkeys(THREADS, str(threads)) | framework | seen | datasets
