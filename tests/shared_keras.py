"""A process that has imported Keras once, for all questions about shapes that tests ask in their own process.

A fork of it answers each by the program that would otherwise start anew, and mostly import: `harness.worker.describe`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.worker.runtimes import Runtime

#: Forks for every directory that is named on a line: the fork reads `question` there, and writes the other two files.
PROGRAM = """
import os, sys, traceback
from harness.worker import describe
from harness.worker.runtimes import RUNTIMES
from harness.worker.runtimes.runtime import without

with without("sklearn"):
    RUNTIMES[sys.argv[1]].import_libraries()
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            os.chdir(line.rstrip())
            for number, name in enumerate(["question", "answer", "errors"]):
                os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
            sys.stdin = open("question")
            describe.main()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class SharedKeras:
    """Takes the place of `harness.task.shapes.run_keras`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, runtime: Runtime, question: str) -> "subprocess.CompletedProcess[str]":
        """Let a fork answer."""
        if self._process is None:
            environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"} | runtime.environment(threads=1, gpu=False)
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, runtime.name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.TemporaryDirectory() as place:
            directory = Path(place)
            (directory / "question").write_text(question)
            self._process.stdin.write(f"{directory}\n")
            self._process.stdin.flush()
            status = int(self._process.stdout.readline())
            answer, errors = ((directory / name).read_text() for name in ("answer", "errors"))
        return subprocess.CompletedProcess([], status, answer, errors)

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
