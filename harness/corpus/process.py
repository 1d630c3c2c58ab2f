"""A trainer process, seen from the build: gives it jobs, reads its events, kills it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.sandbox import find_gpus


class TrainerProcess:
    """One trainer process, with a share of the cores or with one of the GPUs."""

    def __init__(self, recipe: Path, directory: Path, slot: int, workers: int) -> None:
        threads = str(max(len(os.sched_getaffinity(0)) // workers, 1))
        gpus = find_gpus()
        environment = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
        environment |= {
            "KERAS_BACKEND": "tensorflow",
            "TF_ENABLE_ONEDNN_OPTS": "1",  # as where measures run
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_NUM_INTRAOP_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "CUDA_VISIBLE_DEVICES": gpus[slot % len(gpus)].uuid if gpus else "-1",
        }
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `kill`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harness.corpus.trainer", recipe, directory],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment,
            start_new_session=True,  # only the build handles Ctrl-C
        )  # fmt: skip
        self._notes: list[str] | None = None

    def wait_until_ready(self) -> list[str]:
        """Wait until the data are loaded; returns notes on them. Raises `UserError`."""
        if self._notes is None:
            event = self._read()
            if event["event"] == "failed":
                raise UserError(str(event["message"]))
            self._notes = list(event["notes"])
        return self._notes

    def work(self, job: str) -> Iterator[dict[str, Any]]:
        """Run one job and yield its events, the last of which is `done` or `failed`."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        while True:
            event = self._read()
            yield event
            if event["event"] in ("done", "failed"):
                return

    def kill(self) -> None:
        """Kill the process at once; unfinished files do not have their final names yet."""
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            event: dict[str, Any] = json.loads(line)
            return event
        self._process.wait()
        self._errors.seek(0)
        tail = self._errors.read().decode(errors="replace")[-3000:]
        raise RuntimeError(f"the trainer ended with status {self._process.returncode}:\n{tail}")
