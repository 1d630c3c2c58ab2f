"""Computes accuracies of imported models, as a measure would see them, in a process with a limit on its memory."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.errors import UserError
from harness.task.shapes import installed_runtime

#: The runtimes that can compute accuracies, the one of most tasks first.
PREFERRED = ("tensorflow", "jax", "torch")


class AccuracyProcess:
    """The process; a context that ends it."""

    def __enter__(self) -> Self:
        runtime = installed_runtime(PREFERRED)
        environment = os.environ | runtime.environment(len(os.sched_getaffinity(0)), gpu=True)
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harness.worker.accuracies", runtime.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment,
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def accuracies(self, model: Path, data: Sequence[Path]) -> list[float]:
        """Return the accuracy, in [0, 1], of the canonical model in a directory on each of the data.

        Raises:
            UserError: the model cannot be run; the process has ended if it needed too much memory.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"model": str(model), "data": [str(path) for path in data]}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise UserError("cannot be run", found=self._end())
        answer = json.loads(line)
        if "error" in answer:
            raise UserError("cannot be run", found=answer["error"])
        return [float(value) for value in answer["accuracies"]]

    def _end(self) -> str:
        """Describe how the process ended."""
        status = self._process.wait()
        if status < 0:
            return f"the process ended with {signal.Signals(-status).name}; it may use 60 % of the machine's memory"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"exit code {status}"
