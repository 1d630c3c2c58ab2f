"""Steps about calls of the small submissions in tests/gpu/submissions: memory of GPU and host, several GPUs, kills."""

import ctypes
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpu_steps import Skip, block, require, step, table

from harness.errors import UserError
from harness.gpus import Gpu, find_gpus
from harness.outcome import CallResult, Outcome
from harness.sandbox import KINDS, Call, Clock, Job, Kind, Limits, SandboxChoice, Staging
from harness.sandbox.devices import search_path
from harness.sandbox.selftest import CONTROL, trial_job
from harness.worker.runtimes import RUNTIMES

SUBMISSIONS = Path(__file__).parent / "submissions"

#: The directory in which the steps leave files for each other.
WORK = Path(os.environ.get("PGDL_GPU_WORK", "build/gpu/work"))


#: GPU memory that a small call may use, in MiB: the context of CUDA takes some hundred.
SMALL_MIB = 2048

#: Host memory limit of the step about it, and of a small call that must stay below it, in bytes.
HOST_LIMIT = 6 * 2**30

#: Time limit of a call whose kernel does not end, in seconds.
KERNEL_S = 6.0


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


@contextmanager
def calls_on_gpu(*names: str) -> Iterator[Callable[..., CallResult]]:
    """Prepare the best kind of sandbox for runtimes; yield a function that makes calls on the first GPU.

    Its arguments are submission, runtime, time limit in seconds (60), and memory limit in bytes (the default).
    """
    kind, gpu = KINDS[best_kind()](), require_gpu()
    with stage(kind, list(names), gpu) as staging:
        yield lambda submission, runtime, *limits: make_call(kind, make_job(staging, submission, runtime, gpu), *limits)


def describe(result: CallResult) -> str:
    """Return outcome, value, device and message of a call in one line."""
    words = [str(result.outcome), "" if result.value is None else f"{result.value:g}", result.message]
    return " ".join([*filter(None, words), f"({result.environment.get('device', 'no device')})"])


#: The driver's library for measurements.
NVML = "libnvidia-ml.so.1"


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def used_gpu_memory(gpu: Gpu) -> float:
    """Return the MiB of GPU memory in use by all processes, from the driver's NVML; skip the step without NVML."""
    for place in (None, *search_path()):
        try:
            library = ctypes.CDLL(str(place / NVML) if place else NVML)
            break
        except OSError:
            continue
    else:
        raise Skip(f"{NVML} is missing, so GPU memory cannot be measured from outside")
    handle, memory = ctypes.c_void_p(), _Memory()
    code = library.nvmlInit_v2()
    code = code or library.nvmlDeviceGetHandleByUUID(gpu.uuid.encode(), ctypes.byref(handle))
    code = code or library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
    require(code == 0, f"NVML: error {code}")
    return float(memory.used) / 2**20


def wait_for_memory(gpu: Gpu, before: float, patience_s: float = 10.0) -> tuple[float, float]:
    """Wait until no more GPU memory is in use than before (within 64 MiB); return MiB in use, and seconds waited."""
    begin = time.monotonic()
    while (used := used_gpu_memory(gpu)) > before + 64 and time.monotonic() - begin < patience_s:
        time.sleep(0.05)
    return used, time.monotonic() - begin


@step("GPU memory of a small call", 90)
def growth() -> str:
    """Measure how much GPU memory a small call uses: a framework must not claim all of the GPU's memory."""
    require_gpu()
    with calls_on_gpu(*runtimes()) as call:
        rows = [(runtime, call("small_call", runtime)) for runtime in runtimes()]
    print(table(("runtime", "result", "printed"), [(name, describe(one), one.output_tail) for name, one in rows]))
    for name, one in rows:
        small = one.outcome is Outcome.OK and one.value is not None and one.value <= SMALL_MIB
        require(small, f"{name}: {describe(one)}, at most {SMALL_MIB} MiB expected")
    return ", ".join(f"{name} {one.value:.0f} MiB" for name, one in rows)


@step("host memory limit", 120)
def host_limit() -> str:
    """With a limit below CUDA's address space, a small call must succeed, and a greedy call end with MEMORY."""
    require_gpu()
    rows = []
    with calls_on_gpu(*runtimes()) as call:
        for runtime in runtimes():
            for submission, expected in (("small_call", Outcome.OK), ("host_memory", Outcome.MEMORY)):
                rows.append((runtime, submission, expected, call(submission, runtime, 60.0, HOST_LIMIT)))
    print(table(
        ("runtime", "call", "expected", "result", "peak MiB", "printed"),
        [(a, b, c, describe(one), one.peak_memory_bytes >> 20, one.output_tail) for a, b, c, one in rows],
    ))  # fmt: skip
    require(all(one.outcome is expected for _, _, expected, one in rows), "another outcome than expected")
    return f"limit {HOST_LIMIT >> 20} MiB: small calls pass, greedy ones end with MEMORY"


@step("one GPU of several", 60)
def one_of_several() -> str:
    """Give a call the last of several GPUs; it must see no other."""
    require_gpu()
    gpus = find_gpus()
    kind, runtime = KINDS[best_kind()](), runtimes()[0]
    if not kind.is_sandbox:
        raise Skip("no sandbox works here")
    with stage(kind, [runtime], gpus[-1]) as staging:
        result = make_call(kind, make_job(staging, "open_nodes", runtime, gpus[-1]))
    print(block(result.output_tail))
    require(result.value == 1.0, f"{describe(result)}, 1 expected")
    if len(gpus) == 1:
        raise Skip("this machine has one GPU, which a call can open; nothing is seen of others")
    return f"of {len(gpus)} GPUs a call can open its own alone"


@step("a kill in the middle of a kernel", 120)
def kill() -> str:
    """Let calls time out while a kernel runs; the GPU's memory must be free soon after."""
    gpu = require_gpu()
    rows, slow = [], []
    with calls_on_gpu(*runtimes()) as call:
        for runtime in runtimes():
            before = used_gpu_memory(gpu)
            result = call("long_kernel", runtime, KERNEL_S)
            after, waited = wait_for_memory(gpu, before)
            late = result.call_wall_s - KERNEL_S
            rows.append((runtime, describe(result), result.output_tail, f"{late:.2f}", before, after, f"{waited:.1f}"))
            if result.outcome is not Outcome.TIMEOUT or result.survived_kill or after > before + 64:
                slow.append(runtime)
    titles = ("runtime", "result", "printed", "s late", "MiB in use before", "and after", "s until free")
    print(table(titles, rows))
    require(not slow, f"not ended by the clock, or memory was not freed: {', '.join(slow)}")
    return "; ".join(f"{row[0]}: ended {row[3]} s late, memory free after {row[6]} s" for row in rows)


@step("traces in GPU memory", 150)
def traces() -> str:
    """Let one call fill the GPU's memory with a pattern and end, and the next call search for the pattern."""
    gpu = require_gpu()
    runtime = runtimes()[0]
    before = used_gpu_memory(gpu)
    with calls_on_gpu(runtime) as call:
        filled = call("fill_memory", runtime)
        wait_for_memory(gpu, before)
        found = call("find_pattern", runtime, 100.0)
    calls = (("fills", filled), ("looks", found))
    print(table(("call", "result", "printed"), [(name, describe(one), one.output_tail) for name, one in calls]))
    require(filled.outcome is found.outcome is Outcome.OK, "a call failed")
    require(found.value == 0.0, f"{found.value} words of the earlier call were found")
    return f"{(filled.value or 0) / 2**30:.1f} GiB filled; the next call: {found.output_tail.strip()}"
