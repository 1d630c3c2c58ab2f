"""The ingestion program: it calls a submission on the tasks of a phase, inside the platform's container.

Landlock and a system-call filter isolate each call. All calls end well before the container's time is up, because the
platform keeps no output of a container that it kills.
"""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from harness.board.predictions import predictions_of
from harness.codabench.results import KILLED, MADE, OUT_OF_TIME, RECORDS, PhaseResult, copy_records, write_result
from harness.codabench.settings import SANDBOX, PhaseSettings
from harness.errors import UserError
from harness.plain_yaml import parse_yaml
from harness.reading import read_regular
from harness.records import Records
from harness.submission import find_submission
from pgdl import Execution, Progress, run

NAME = "submission"  #: name of the submission in the records, since the container does not know the participant
SAVE_S = 30.0  #: seconds between two intermediate results

#: Files in which the platform looks for a command of the submission, in this order, and their maximum size in bytes.
COMMANDS, MAX_BYTES = ("metadata.yaml", "metadata"), 64 * 1024


class OutOfTimeError(KeyboardInterrupt):
    """The container's time is used up; this ends the calls as Ctrl-C does."""


def ingest(program: Path, input_data: Path, submission: Path, output: Path, progress: Progress) -> PhaseResult:
    """Call a submission on all models of a phase; write the result to `output`, and return it.

    `program` holds the settings of the phase, and `input_data` the tasks. If no call can be made, write the reason, and
    raise `UserError`.
    """
    settings = PhaseSettings.read(program)
    execution = Execution(settings.time_limit_s, memory_bytes=settings.memory_bytes, sandbox=SANDBOX)
    if problem := _command(submission):
        result = PhaseResult(problem=problem)
        write_result(output, result, {})
        return result
    with tempfile.TemporaryDirectory() as temporary:
        database = Path(temporary, RECORDS)
        saving = _Saving(database, output, find_submission(str(submission), NAME).notes)
        saving.save(KILLED)
        try:
            with saving.regularly(), _until(psutil.Process().create_time() + settings.for_calls_s):
                run(
                    [str(submission)], tasks_dir=input_data, task_names=list(settings.tasks), results=database,
                    names=[NAME], execution=execution, progress=progress,
                )  # fmt: skip
        except OutOfTimeError:
            return saving.save(OUT_OF_TIME)
        except UserError as error:
            try:
                saving.save(MADE, problem=f"the calls could not be made: {error}")
            except UserError as unwritten:
                raise UserError(f"{error}; {unwritten}") from error
            raise
        return saving.save(MADE)


def _command(submission: Path) -> str:
    """If a submission has a command of its own, return why it is refused; otherwise return ""."""
    for name in COMMANDS:
        if os.path.lexists(submission / name):
            try:
                content = parse_yaml(read_regular(submission / name, MAX_BYTES, links=False))
            except (UserError, ValueError):  # the platform may find a command even in an invalid file
                return f"refused: {name} is not a file of plain YAML, of at most {MAX_BYTES} bytes"
            has_command = isinstance(content, dict) and "command" in content
            return f"refused: {name} has a `command`, and this competition runs none" if has_command else ""
    return ""


@contextmanager
def _until(ends_at: float) -> Iterator[None]:
    """Raise `OutOfTimeError` within the context at the time `ends_at`, in seconds since the epoch."""

    def end(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(ends_at - time.time(), 1e-3))
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Saving:
    def __init__(self, database: Path, output: Path, notes: tuple[str, ...]) -> None:
        self._database, self._output, self._notes = database, output, notes
        self._copy = database.with_suffix(".copy")
        self._writing = threading.Lock()

    def save(self, ended: str, problem: str = "") -> PhaseResult:
        with self._writing:
            files: Mapping[str, Path | bytes] = {}
            if self._database.exists():
                copy_records(self._database, self._copy)
                with Records(self._copy) as records:
                    files = {RECORDS: self._copy, **predictions_of(list(records.newest_of()))}
            result = PhaseResult(problem=problem, ended=ended, notes=self._notes)
            write_result(self._output, result, files)
            return result

    @contextmanager
    def regularly(self) -> Iterator[None]:
        """Call `save` every `SAVE_S` seconds within the context, in a thread."""
        over = threading.Event()

        def work() -> None:
            while not over.wait(SAVE_S):
                with suppress(UserError):  # the final save reports the same error
                    self.save(KILLED)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
