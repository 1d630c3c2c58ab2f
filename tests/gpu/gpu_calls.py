"""Calls of the small submissions in tests/gpu/submissions on a tiny model, made with functions of the harness."""

import ctypes
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpu_steps import Skip

from harness.errors import UserError
from harness.gpus import Gpu, find_gpus
from harness.outcome import CallResult
from harness.sandbox import KINDS, Call, Clock, Job, Kind, Limits, SandboxChoice, Staging
from harness.sandbox.devices import search_path
from harness.sandbox.selftest import CONTROL, trial_job
from harness.worker.runtimes import RUNTIMES

SUBMISSIONS = Path(__file__).parent / "submissions"

#: The directory in which the steps leave files for each other.
WORK = Path(os.environ.get("PGDL_GPU_WORK", "build/gpu/work"))


def require_gpu() -> Gpu:
    """Return the first GPU, or skip the step."""
    gpus = find_gpus()
    if not gpus:
        raise Skip("no GPU: /proc/driver/nvidia/gpus describes none that has a device node")
    return gpus[0]


def runtimes() -> list[str]:
    """Return the installed runtimes that the steps try: PyTorch and JAX."""
    found = [name for name in ("torch", "jax") if not RUNTIMES[name].missing()]
    if not found:
        raise Skip("neither PyTorch nor JAX is installed")
    return found


@cache
def best_kind() -> str:
    """Return the name of the kind of sandbox that `auto` chooses, or `none` if no sandbox works."""
    try:
        return SandboxChoice().kind(warn=lambda _: None).name
    except UserError:
        return "none"


@contextmanager
def stage(kind: Kind, jobs: list[str], gpu: Gpu | None) -> Iterator[Staging]:
    """Prepare a kind of sandbox for the runtimes `jobs`."""
    WORK.mkdir(parents=True, exist_ok=True)
    with Staging() as staging, kind:
        kind.prepare(kind.trials(staging, jobs, gpu=gpu))
        yield staging


def make_job(staging: Staging, submission: str, runtime: str, gpu: Gpu | None) -> Job:
    """Return a job of a submission of tests/gpu/submissions, with its files staged."""

    def write(directory: Path) -> None:
        shutil.copy(SUBMISSIONS / f"{submission}.py", directory / "complexity.py")
        shutil.copy(SUBMISSIONS / "cuda_driver.py", directory)

    return replace(trial_job(staging, CONTROL, runtime=runtime, gpu=gpu), submission=staging.stage(submission, write))


def make_call(kind: Kind, job: Job, time_limit_s: float = 60.0, memory_bytes: float = 0) -> CallResult:
    """Make a call under limits; `memory_bytes` 0 means the default."""
    limits = Limits(memory_bytes=int(memory_bytes) or Limits.default_memory_bytes(0 if job.gpu is None else 1))
    call = Call.prepare(kind.start, job, limits, 0, stopping=lambda: False)
    if isinstance(call, CallResult):
        return call
    return call.run(seed=0, clock=Clock(time_limit_s, f"the time limit of {time_limit_s:g} s"))


#: Makes a call: submission, runtime, time limit in seconds (60), memory limit in bytes (the default).
Caller = Callable[..., CallResult]


@contextmanager
def calls_on_gpu(*names: str) -> Iterator[Caller]:
    """Prepare the best kind of sandbox for these runtimes; yield a function that makes calls on the first GPU."""
    kind, gpu = KINDS[best_kind()](), require_gpu()
    with stage(kind, list(names), gpu) as staging:

        def call(submission: str, runtime: str, *limits: float) -> CallResult:
            return make_call(kind, make_job(staging, submission, runtime, gpu), *limits)

        yield call


def describe(result: CallResult) -> str:
    """Return outcome, value, device and message of a call in one line."""
    words = [str(result.outcome), "" if result.value is None else f"{result.value:g}", result.message]
    return " ".join([*filter(None, words), f"({result.environment.get('device', 'no device')})"])


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def used_gpu_memory(gpu: Gpu) -> float:
    """Return the MiB of GPU memory in use by all processes, from the driver's NVML; skip the step without NVML."""
    for name in ("libnvidia-ml.so.1", *(str(path / "libnvidia-ml.so.1") for path in search_path())):
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        raise Skip("libnvidia-ml.so.1 is missing, so GPU memory cannot be measured from outside")
    handle, memory = ctypes.c_void_p(), _Memory()
    for code in (
        library.nvmlInit_v2(),
        library.nvmlDeviceGetHandleByUUID(gpu.uuid.encode(), ctypes.byref(handle)),
        library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)),
    ):
        if code != 0:
            raise RuntimeError(f"NVML: error {code}")
    return float(memory.used) / 2**20


def wait_for_memory(gpu: Gpu, before: float, patience_s: float = 10.0) -> tuple[float, float]:
    """Wait until no more GPU memory is in use than before (within 64 MiB); return MiB in use, and seconds waited."""
    begin = time.monotonic()
    while (used := used_gpu_memory(gpu)) > before + 64 and time.monotonic() - begin < patience_s:
        time.sleep(0.05)
    return used, time.monotonic() - begin
