"""Tests of the start of a worker: its reported process ID, and starts that fail."""

import os
import resource
from contextlib import suppress
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from typing import NoReturn

import pytest

from harness.sandbox import process
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.process import WorkerProcess
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.zygote import WorkerReport

NOWHERE = Path("/nowhere")


def _descriptors() -> set[int]:
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}


def test_a_start_that_fails_ends_although_a_process_keeps_its_output_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped zygote keeps the worker's output descriptor open for ever."""
    kept: list[int] = []

    def start(launch: Launch) -> NoReturn:
        kept.append(os.dup(launch.output))
        os.write(launch.output, b"bwrap: no such file")
        raise StartError("it did not start:")

    monkeypatch.setattr(process, "LAST_OUTPUT_S", 0.1)
    opened = _descriptors()
    with pytest.raises(StartError, match=r"^it did not start: bwrap: no such file$"):
        WorkerProcess(start, Job(NOWHERE, NOWHERE, NOWHERE, NOWHERE), Limits(), 0)
    assert _descriptors() - opened == {*kept}
    os.close(kept[0])


def test_a_worker_is_reported_to_a_harness_with_many_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # the hard limit may be lower
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    try:
        source, line = os.pipe()
        high = fcntl(source, F_DUPFD, 1024)
        os.write(line, b'{"pid": 7}\n')
        assert WorkerReport(high, None).facts == {"pid": 7}  # type: ignore[arg-type]
        for descriptor in (source, line, high):
            os.close(descriptor)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
