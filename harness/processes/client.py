"""A process that answers questions by a program of the harness; its other end is `harness.processes.service`."""

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
from harness.machine_memory import usable_memory
from harness.processes.channel import ProcessChannel
from harness.processes.models import Answer, Question, Say
from harness.processes.runtimes import environment
from harness.worker.runtimes import Runtime

#: The program of the interpreter; its arguments are the answering module, the runtime, and the module's own arguments.
SERVICE = "from harness.processes.service import main; main()"

#: Share of the machine's memory that a process may use: models may come from strangers.
MEMORY = 0.6

#: Seconds in which a process that has closed its connection must end.
END_S = 10.0


class NoAnswerError(UserError):
    """A question has no answer; the message is the reason, one line."""


class UnableError(NoAnswerError):
    """The process has ended without an answer, or cannot answer any question."""


class FaultError(RuntimeError):
    """The program has a fault; the message has its traceback."""


class Process(AbstractContextManager["Process"]):
    """A process that answers one question at a time; leaving its context ends the process.

    It starts immediately, and again for the first question after its end. Its output is read only to explain why it
    ended.

    Args:
        program: the module of its program, see `harness.processes.service`.
        runtime: the framework in which it runs models.
        arguments: further arguments of the program's `prepare`.
        threads: cores that it uses; all by default.
        gpu: the GPUs that it sees, see `environment`.
        own_data: whether it reads the user's own data, not a stranger's models: it may then use the machine's whole
            memory, and finds the datasets in Keras' cache.
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
        # A killed process cannot remove its own temporary files.
        self._temporary = tempfile.TemporaryDirectory(prefix="pgdl-", ignore_cleanup_errors=True)
        own = {"TMPDIR": self._temporary.name}
        self._environment = environment(runtime, threads or available_cores(), gpu, own_data=own_data) | own
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end of the context
        self._changing = threading.Lock()
        self._is_cancelled = False
        self._start()

    def __exit__(self, *error: object) -> None:
        self.cancel()
        self._channel.close()
        self._printed.close()
        self._temporary.cleanup()

    def ask(self, question: Question, on_event: Say = lambda _: None, seconds: float | None = None) -> Answer:
        """Return the answer to a question.

        Args:
            question: for the program.
            on_event: called with each event that the program reports before the answer.
            seconds: time limit for each event and for the answer.

        Raises:
            NoAnswerError: the question cannot be answered.
            UnableError: the process cannot answer any question, or has ended.
            FaultError: the program has a fault.
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
        """End the process immediately and for good; a question of another thread gets no answer."""
        with self._changing:
            self._is_cancelled = True
            self._kill()

    def _answer(self, question: Question, on_event: Say, seconds: float | None) -> Answer:
        with suppress(OSError):  # it has ended, as the next check finds
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
                self._printed.seek(0)  # also for the next process
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
        except ValueError as error:
            self._kill()
            raise UnableError(f"its answer cannot be read: {error}") from error
        return kind, content

    def _end(self) -> str:
        """Describe how the process ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self._kill()
        status = self._process.returncode
        if self._is_cancelled:
            return "cancelled"
        if status < 0:
            whose = usable_memory().whose
            share = f"; it may use {100 * self._memory:.0f} % of {whose} memory" if self._memory else ""
            return f"the process ended with {signal.Signals(-status).name}{share}"
        self._printed.seek(0)
        lines = self._printed.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"exit code {status}"

    def _kill(self) -> None:
        """Kill the process and its descendants."""
        if self._process.poll() is None:
            children.kill(self._process)
            self._process.wait()


def _limit_memory(pid: int, share: float) -> None:
    if sys.platform != "linux":  # only Linux lets a process limit another; `pgdl doctor` says so
        return
    import resource  # here: Windows lacks it

    limit = int(share * usable_memory().total)
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        bounded = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.prlimit(pid, resource.RLIMIT_DATA, (bounded, bounded))
