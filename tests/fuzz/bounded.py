"""Reads mutated files in a process with bounded memory and time, and reports the results.

The process reads lines `NAME DIRECTORY` and answers each with a line of JSON: `[how, text]`.
"""

import json
import os
import resource
import selectors
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from harness.errors import UserError

ROOT = Path(__file__).parents[2]

#: Memory beyond that of the process before it reads, in bytes, and seconds for one reading.
MEMORY, DEADLINE_S = 1024**3, 60.0

#: How a reading ends: with a result, with an error that is documented, with another one, or not.
READ, REFUSED, FAILED, ENDED, HANGS = "read", "refused", "failed", "ended", "hangs"

#: The program of the process.
MODULE = "tests.fuzz.readers"

#: Number of readings after which a new process replaces the process: libraries keep some memory.
MOST = 2000


@dataclass(frozen=True)
class Reader:
    """A reader of strangers' files: it makes a valid sample, and reads it after a change."""

    make: Callable[[Path], object]
    read: Callable[[Path], object]
    changed: str = "*"
    errors: tuple[type[Exception], ...] = (UserError,)


class Outcome(NamedTuple):
    how: str
    text: str

    @property
    def is_right(self) -> bool:
        return self.how in (READ, REFUSED)


class Bounded:
    """A context with a process for readings; the process is replaced after it ended or hung."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._readings = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def read(self, name: str, directory: Path) -> Outcome:
        """Let the reader `name` read a directory in the process."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{name}\t{directory}\n".encode())
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(DEADLINE_S):
                self._end()
                return Outcome(HANGS, f"no answer in {DEADLINE_S:g} s")
        line = process.stdout.readline()
        if not line:
            status = process.wait()
            self._end()
            return Outcome(ENDED, f"the process ended with status {status}")
        return Outcome(*json.loads(line))

    def _started(self) -> subprocess.Popen[bytes]:
        self._readings += 1
        if self._process is None or self._readings % MOST == 0:
            self._end()
            command = [sys.executable, "-m", MODULE]
            path = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
            environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # it has imported everything, and bounded its memory
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _answer(reader: Reader, directory: Path) -> Outcome:
    try:
        reader.read(directory)
    except reader.errors as error:
        return Outcome(REFUSED, str(error)[:500]) if str(error) else Outcome(FAILED, "an error without a text")
    except BaseException:
        return Outcome(FAILED, traceback.format_exc(limit=-8))
    return Outcome(READ, "")


def main(readers: Mapping[str, Reader]) -> None:
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY,) * 2)
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        name, _, directory = line.rstrip("\n").partition("\t")
        answers.write(json.dumps(_answer(readers[name], Path(directory))) + "\n")
        answers.flush()
