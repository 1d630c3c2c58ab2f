"""The client of a process that answers questions. The other end is `harness.processes.service`."""

import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import AbstractContextManager, suppress
from typing import Any

from harness import children
from harness.cores import available_cores
from harness.errors import UserError
from harness.machine_memory import memory_kills, usable_memory
from harness.processes.channel import ProcessChannel
from harness.processes.models import Answer, Question, Say
from harness.processes.runtimes import environment
from harness.worker.runtimes import Runtime

#: Python code of the process. Its arguments are the program's module, the runtime, and arguments of the program.
SERVICE = "from harness.processes.service import main; main()"

#: Fraction of the machine's memory that a process may use for models of unknown origin.
MEMORY = 0.6

#: Seconds within which a process must end after closing its connection.
END_S = 10.0


class NoAnswerError(UserError):
    """A question has no answer. The message says why, in one line."""


class UnableError(NoAnswerError):
    """The process has ended, or can answer no question at all."""


class FaultError(RuntimeError):
    """The program that answers questions has a bug. The message has the traceback."""


class Process(AbstractContextManager["Process"]):
    """A process that answers one question at a time, and ends with the context.

    The process starts at once. If it has ended, the next question starts a new process.

    Args:
        program: name of the module that answers (`harness.processes.service`).
        runtime: the framework in which the program runs models.
        arguments: further arguments of the program's `prepare`.
        threads: number of cores for the process; None: all.
        gpu: the GPUs that the process sees, as for `harness.processes.runtimes.environment`.
        own_data: whether the process reads the user's own data and no models of unknown origin. It may then use all
            memory of the machine, and finds the datasets in Keras' cache.
    """

    def __init__(
        self,
        program: str,
        runtime: Runtime,
        *arguments: str,
        threads: int | None = None,
        gpu: bool | str = True,
        own_data: bool = False,
    ) -> None:
        self._program, self._memory = program, None if own_data else MEMORY
        self._command = children.harness_interpreter(SERVICE, program, runtime.name, *arguments)
        # Temporary files of the process, which cannot remove them if it is killed.
        self._temporary = tempfile.TemporaryDirectory(prefix="pgdl-", ignore_cleanup_errors=True)
        own = {"TMPDIR": self._temporary.name}
        self._environment = environment(runtime, threads or available_cores(), gpu, own_data=own_data) | own
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end of the context
        self._changing = threading.Lock()
        self._is_cancelled = False
        self._kills = memory_kills()
        self._start()

    def __exit__(self, *error: object) -> None:
        self.cancel()
        self._channel.close()
        self._printed.close()
        self._temporary.cleanup()

    def ask(self, question: Question, on_event: Say = lambda _: None, seconds: float | None = None) -> Answer:
        """Return the answer to a question.

        Args:
            question: any JSON value that the program understands.
            on_event: is called with each event that the program reports before the answer.
            seconds: time limit for each event and for the answer; None: no limit.

        Raises:
            NoAnswerError: the question cannot be answered.
            UnableError: the process has ended, or can answer no question at all.
            FaultError: the program has a bug.
        """
        self._ensure_started()
        try:
            return self._answer(question, on_event, seconds)
        except (NoAnswerError, FaultError):
            raise
        except BaseException:  # such as Ctrl-C: the next question must not get this answer
            self._kill()
            raise

    def cancel(self) -> None:
        """Kill the process for good. A question that another thread has asked gets no answer."""
        with self._changing:
            self._is_cancelled = True
            self._kill()

    def _answer(self, question: Question, on_event: Say, seconds: float | None) -> Answer:
        with suppress(OSError):  # the process has ended, which `_receive` notices
            self._channel.send(question)
        while True:
            kind, content = self._receive(seconds)
            if kind == "answer":
                answer: Answer = content
                return answer
            if kind == "event":
                on_event(content)
            elif kind == "fault":
                raise FaultError(f"{self._program} failed:\n{content}")
            else:
                raise (UnableError if kind == "unable" else NoAnswerError)(content)

    def _ensure_started(self) -> None:
        with self._changing:
            if self._is_cancelled:
                raise UnableError("cancelled")
            if self._process.poll() is not None:
                self._channel.close()
                self._printed.seek(0)  # for the next process, too
                self._printed.truncate()
                self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._channel = ProcessChannel(ours)
        with theirs:
            printed = self._printed.fileno()
            self._process = children.start(self._command, theirs.fileno(), printed, self._environment)
        if self._memory is not None:
            _limit_memory(self._process.pid, self._memory)

    def _receive(self, seconds: float | None) -> tuple[str, Any]:
        try:
            kind, content = self._channel.receive(seconds)
        except EOFError:
            raise UnableError(self._end()) from None
        except TimeoutError as error:
            self._kill()
            raise UnableError(f"no answer within {seconds:g} s") from error
        except (ValueError, TypeError) as error:  # TypeError: not a pair
            self._kill()
            raise UnableError(f"its answer cannot be read: {error}") from error
        return kind, content

    def _end(self) -> str:
        """Return why the process ended, as a line: if possible, the last line of its output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self._kill()
        status = self._process.returncode
        if self._is_cancelled:
            return "cancelled"
        if status < 0:
            whose = usable_memory().whose
            share = f"; it may use {100 * self._memory:.0f} % of {whose} memory" if self._memory else ""
            short = ", because memory was short" if memory_kills() > self._kills else ""
            return f"the process ended with {signal.Signals(-status).name}{short}{share}"
        self._printed.seek(0)
        lines = self._printed.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"exit code {status}"

    def _kill(self) -> None:
        if self._process.poll() is None:
            children.kill(self._process)
            self._process.wait()


def _limit_memory(pid: int, share: float) -> None:
    if sys.platform != "linux":  # only Linux lets a process limit another process
        return
    limit = int(share * usable_memory().total)
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        bounded = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.prlimit(pid, resource.RLIMIT_DATA, (bounded, bounded))
