"""Runs small submissions whose outcomes are known, to find out whether this machine's sandbox holds."""

import json
import secrets
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.sandbox.call import prepare_call
from harness.sandbox.clock import Clock
from harness.sandbox.job import Job
from harness.sandbox.limits import MIB, Limits
from harness.sandbox.outcome import Outcome
from harness.sandbox.result import CallResult
from harness.sandbox.staging import Staging

TIME_LIMIT_S = 3.0
MEMORY_BYTES = 1536 * MIB


@dataclass(frozen=True)
class Trap:
    """A submission, and what must become of it."""

    name: str
    source: str
    expected: Outcome


def traps(canary: Path) -> list[Trap]:
    """The self-test's submissions; `canary` is a file of the user's that no sandbox may show."""
    return [
        Trap(
            "a measure returns its value",
            "    return float(model(next(iter(dataset.batch(4)))[0]).shape[1])",
            Outcome.OK,
        ),
        Trap(
            "the network is refused",
            "    import socket\n    socket.create_connection(('127.0.0.1', 9), 1)",
            Outcome.FORBIDDEN,
        ),
        Trap(
            "other files are not there",
            f"    import os\n    return float(os.path.exists({str(canary)!r}))",
            Outcome.OK,
        ),
        Trap("the time limit ends a call", "    while True: pass", Outcome.TIMEOUT),
        Trap(
            "the memory limit ends a call",
            "    hog = []\n    while True: hog.append(b'x' * (32 << 20))",
            Outcome.MEMORY,
        ),
    ]


def run_traps(workers: int) -> Iterator[tuple[Trap, CallResult, bool]]:
    """Run all traps in real sandboxes; yields each with its result and whether it is as it must be."""
    with tempfile.NamedTemporaryFile(prefix=secrets.token_hex(4)) as canary, Staging() as staging:
        all_traps = traps(Path(canary.name))
        jobs = [_job(staging, trap) for trap in all_traps]
        with ThreadPoolExecutor(workers) as threads:
            for trap, result in zip(all_traps, threads.map(_run, jobs, range(len(jobs))), strict=True):
                expected_value = {"a measure returns its value": 2.0, "other files are not there": 0.0}.get(trap.name)
                yield trap, result, result.outcome is trap.expected and result.value == expected_value


def _job(staging: Staging, trap: Trap) -> Job:
    source = f"def complexity(model, dataset):\n{trap.source}\n"
    submission = staging.stage(trap.name, lambda directory: _write_text(directory / "complexity.py", source))
    return Job(staging.worker(), submission, staging.stage("model", _write_model), staging.stage("data", _write_data))


def _run(job: Job, slot: int) -> CallResult:
    call = prepare_call(job, Limits(memory_bytes=MEMORY_BYTES), slot, sandboxed=True, stopping=lambda: False)
    if isinstance(call, CallResult):
        return call
    return call.run(seed=0, clock=Clock(TIME_LIMIT_S, f"the time limit of {TIME_LIMIT_S:g} s"))


def _write_text(file: Path, text: str) -> None:
    file.write_text(text)


def _write_model(directory: Path) -> None:
    layers = [{"class_name": "Dense", "config": {"units": 2}}]
    architecture = {"format": "layers", "input_shape": [3], "layers": layers}
    (directory / "architecture.json").write_text(json.dumps(architecture))
    np.savez(directory / "weights.npz", w0=np.ones((3, 2), np.float32), w1=np.zeros(2, np.float32))


def _write_data(directory: Path) -> None:
    np.save(directory / "inputs.npy", np.ones((8, 3), np.float32))
    np.save(directory / "labels.npy", np.zeros(8, np.int32))
