"""A process of its own that answers questions about models; its other end is `harness.worker.service`."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Any, Self

from harness.errors import UserError
from harness.worker.runtimes import Runtime

#: The runtimes that run models, the one of most tasks first.
PREFERRED = ("tensorflow", "jax", "torch")


class ModelProcess:
    """The process; a context that ends it.

    Args:
        module: the program, a module that calls `harness.worker.service.serve`.
        runtime: the framework in which it runs models.
        threads: cores that it uses; all by default.
    """

    def __init__(self, module: str, runtime: Runtime, threads: int | None = None) -> None:
        environment = os.environ | runtime.environment(threads or len(os.sched_getaffinity(0)), gpu=True)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end of the context
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, runtime.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment,
            start_new_session=True,  # only the command handles Ctrl-C
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """Kill the process at once."""
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer.

        Raises:
            UserError: the model cannot be run; the process has ended if it needed too much memory.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise UserError("cannot be run", found=self._end())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise UserError("cannot be run", found=answer["error"])
        return answer

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, so that it answers no more questions."""
        return self._process.poll() is not None

    def _end(self) -> str:
        """Describe how the process ended."""
        status = self._process.wait()
        if status < 0:
            return f"the process ended with {signal.Signals(-status).name}; it may use 60 % of the machine's memory"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"exit code {status}"
