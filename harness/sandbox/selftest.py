"""Small submissions with known outcomes. They test whether a sandbox works on this machine and enforces its limits."""

import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.configuration import MIB
from harness.gpus import Gpu
from harness.outcome import CallResult, Outcome
from harness.sandbox.call import Call
from harness.sandbox.clock import Clock
from harness.sandbox.job import Job, Limits
from harness.sandbox.process import Starter
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.staging import Staging
from harness.worker.runtimes import DEFAULT

#: Memory limit of a test call without a GPU; small, because a test submission has to exceed it.
MEMORY_BYTES = 1024 * MIB

#: Placeholder in the code of a test submission for the path of a file that no sandbox may show.
CANARY = "CANARY"


@dataclass(frozen=True)
class Trap:
    """A test submission, and its expected outcome."""

    name: str
    statements: str  #: the body of `complexity(model, dataset)`
    outcome: Outcome
    value: float | None = None
    time_limit_s: float = 30.0
    needs_sandbox: bool = True  #: whether the outcome differs without a sandbox

    def caught(self, result: CallResult) -> bool:
        """Return whether the call ended as expected."""
        return (result.outcome, result.value) == (self.outcome, self.value)


#: A harmless measure for any runtime: the number of the model's outputs times the number of training examples.
CONTROL = Trap(
    "a measure returns its value",
    "import numpy as np; return float(model(np.ones((4, 3), np.float32)).shape[1] * len(dataset))",
    Outcome.OK,
    value=16.0,
    needs_sandbox=False,
)
TRAPS = (
    CONTROL,
    Trap("the network is refused", "import socket; socket.create_connection(('127.0.0.1', 9), 1)", Outcome.FORBIDDEN),
    Trap(
        "other files cannot be read",
        f"try: open({CANARY!r}).close()\n    except OSError: return 0.0\n    return 1.0",
        Outcome.OK,
        value=0.0,
    ),
    Trap("the time limit ends a call", "while True: pass", Outcome.TIMEOUT, time_limit_s=2.0, needs_sandbox=False),
    Trap("the memory limit ends a call", "hog = []\n    while True: hog.append(b'x' * (32 << 20))", Outcome.MEMORY),
)


def run_traps(
    start: Starter, staging: Staging, workers: int, runtime: str = DEFAULT
) -> Iterator[tuple[Trap, CallResult]]:
    """Run the test submissions `TRAPS`, `workers` at a time. Yield each with its result, in the same order."""
    with tempfile.NamedTemporaryFile(prefix="pgdl-canary-") as canary, ThreadPoolExecutor(workers) as threads:
        jobs = [trial_job(staging, trap, canary=canary.name, runtime=runtime) for trap in TRAPS]
        slots = range(len(jobs))
        results = threads.map(lambda job, slot: run_trial(start, job, slot, TRAPS[slot].time_limit_s), jobs, slots)
        yield from zip(TRAPS, results, strict=True)


def trial_job(
    staging: Staging, trap: Trap, *, canary: str = "", runtime: str = DEFAULT, threads: int = 1, gpu: Gpu | None = None
) -> Job:
    """Return a job that calls a test submission on a tiny model with eight examples."""
    source = f"def complexity(model, dataset):\n    {trap.statements.replace(CANARY, canary)}\n"
    submission = staging.stage(f"trap {source}", lambda directory: _write(directory, source))
    model, data = staging.stage("trial model", _write_model), staging.stage("trial data", _write_data)
    return Job(staging.worker(), submission, model, data, runtime=runtime, threads=threads, gpu=gpu)


def run_trial(start: Starter, job: Job, slot: int, time_limit_s: float) -> CallResult:
    """Call the test submission of a job in a sandbox, and return the result."""
    # CUDA's libraries alone take over 1 GiB.
    memory_bytes = MEMORY_BYTES if job.gpu is None else Limits.default_memory_bytes(n_gpus=1)
    call = Call.prepare(start, job, Limits(memory_bytes=memory_bytes), slot, stopping=lambda: False)
    if isinstance(call, CallResult):
        return call
    return call.run(seed=0, clock=Clock(time_limit_s, f"the time limit of {time_limit_s:g} s"))


def _write(directory: Path, source: str) -> None:
    (directory / "complexity.py").write_bytes(source.encode())


def require_value(start: Starter, job: Job) -> None:
    """Run a job with the test submission `CONTROL`. Raise `StartError` unless the call returns its known value."""
    result = run_trial(start, job, 0, CONTROL.time_limit_s)
    if not CONTROL.caught(result):
        raise StartError(f"{result.outcome} {result.message or result.value}")


def _write_model(directory: Path) -> None:
    import numpy as np  # here, because choosing a kind of sandbox must not wait for this import

    layers = [{"class_name": "Dense", "config": {"units": 2}}]
    architecture = {"format": "layers", "input_shape": [3], "layers": layers}
    (directory / "architecture.json").write_bytes(json.dumps(architecture).encode())
    np.savez(directory / "weights.npz", w0=np.ones((3, 2), np.float32), w1=np.zeros(2, np.float32))


def _write_data(directory: Path) -> None:
    import numpy as np

    np.save(directory / "inputs.npy", np.ones((8, 3), np.float32))
    np.save(directory / "labels.npy", np.zeros(8, np.int32))
