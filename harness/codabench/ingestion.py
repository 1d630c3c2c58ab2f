"""The ingestion program: calls of one submission on the tasks of a phase, inside the platform's container.

The container belongs to root without capabilities, has a network and no limit on memory; Landlock and the system-call
filter isolate each call in it. The time of the container is limited: the calls end in good time before, because of a
container that the platform ends nothing is kept.
"""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.api import Execution, Progress, run
from harness.board.predictions import predictions_of
from harness.codabench.results import KILLED, MADE, OUT_OF_TIME, RECORDS, Result, copy_records, result_of, write_result
from harness.codabench.seal import read_key
from harness.codabench.settings import KEY, TASKS, Settings
from harness.errors import UserError
from harness.outcome import Outcome
from harness.plain_yaml import parse_yaml
from harness.reading import read_regular
from harness.records import Records
from harness.sandbox import Landlock
from harness.task.contents import read_contents
from harness.task.layout import find_tasks

#: Name of every submission here; the organiser knows the true ones.
NAME = "submission"

#: Seconds between two results that are written in case that the container is killed.
SAVE_S = 30.0

#: The network of a container without any.
LOOPBACK = "lo"

#: Files of a submission in which the platform looks for a command, in its order, and most bytes of them.
COMMANDS, MAX_BYTES = ("metadata.yaml", "metadata"), 64 * 1024


@dataclass(frozen=True)
class Places:
    """The directories that the platform mounts."""

    program: Path
    input_data: Path
    submission: Path
    output: Path


class OutOfTimeError(KeyboardInterrupt):
    """The time of the container is used up: calls end as they do for Ctrl-C."""


def ingest(places: Places, progress: Progress) -> Result:
    """Make the calls and write the result.

    Raises `UserError` if the tasks are not those of the phase, or calls cannot be made here; the result says so, too.
    """
    settings, key = Settings.read(places.program), read_key(places.program / KEY)
    result = result_of(settings, key)
    if (problem := _own_command(places.submission) or _network(settings)) is not None:
        result = result.model_copy(update={"problem": problem})
        write_result(places.output, result, key, {})
        return result
    with tempfile.TemporaryDirectory() as temporary:
        database = Path(temporary, RECORDS)
        saving = _Saving(database, places.output, result, key)
        saving.save(KILLED)
        try:
            with saving.regularly(), _until(psutil.Process().create_time() + settings.for_calls_s):
                _call(places, settings, database, progress)
        except OutOfTimeError:
            return saving.save(OUT_OF_TIME)
        except UserError as error:
            try:
                saving.save(MADE, problem=f"the calls could not be made: {error}")
            except UserError as unwritten:
                raise UserError(f"{error}; {unwritten}") from error
            raise
        return saving.save(MADE)


def _call(places: Places, settings: Settings, database: Path, progress: Progress) -> None:
    tasks = places.program / TASKS if settings.hidden else places.input_data
    for task in find_tasks(tasks, list(settings.tasks)):
        if not settings.tasks[task.name].are_of(read_contents(task)):
            raise UserError("not the models and data of the phase", file=task.directory, remedy="make the bundle again")
    execution = Execution(
        time_limit_s=settings.time_limit_s, memory_bytes=settings.memory_bytes, sandbox=Landlock.name,
        withhold=settings.withhold.value,
    )  # fmt: skip
    run(
        places.submission, tasks_dir=tasks, task_names=list(settings.tasks), results=database, names=[NAME],
        execution=execution, progress=progress,
    )  # fmt: skip


def _own_command(submission: Path) -> str | None:
    """Return why a submission is refused that the platform would run itself, outside of every sandbox."""
    for name in COMMANDS:
        file = submission / name
        if not os.path.lexists(file):
            continue
        try:
            content = parse_yaml(read_regular(file, MAX_BYTES, links=False))
        except (UserError, ValueError):  # whatever it is, the platform may find a command in it
            return f"refused: {name} is not a file of plain YAML, of at most {MAX_BYTES} bytes"
        if isinstance(content, dict) and "command" in content:
            return f"refused: {name} has a `command`, which runs outside of the sandbox"
        return None
    return None


def _network(settings: Settings) -> str | None:
    """Return why a hidden phase is not run where a command of the submission could send away what it sees."""
    if not settings.hidden:
        return None
    found = sorted(name for name, state in psutil.net_if_stats().items() if state.isup and name != LOOPBACK)
    if not found:
        return None
    remedy = "set COMPETITION_CONTAINER_NETWORK_DISABLED=True on the workers"
    return f"a hidden phase needs containers without a network, and this one has {', '.join(found)}; {remedy}"


@contextmanager
def _until(ends_at: float) -> Iterator[None]:
    """Raise `OutOfTimeError` in the context at a time."""

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
    """Writes the result of what has been recorded so far."""

    def __init__(self, database: Path, output: Path, result: Result, key: bytes) -> None:
        self._database, self._output, self._result, self._key = database, output, result, key
        self._copy = database.with_suffix(".copy")
        self._writing = threading.Lock()

    def save(self, ended: str, problem: str = "") -> Result:
        """Write and return the result; there may be no records yet."""
        with self._writing:
            files: Mapping[str, Path | bytes] = {}
            recorded = 0
            if self._database.exists():
                copy_records(self._database, self._copy)
                with Records(self._copy) as records:
                    rows = list(records.newest_of())
                recorded = sum(row.outcome != Outcome.INFRA_ERROR for row in rows)
                files = {RECORDS: self._copy, **predictions_of(rows)}
            result = self._result.model_copy(update={"recorded": recorded, "ended": ended, "problem": problem})
            write_result(self._output, result, self._key, files)
            return result

    @contextmanager
    def regularly(self) -> Iterator[None]:
        """Save again and again in the context, in a thread of its own."""
        over = threading.Event()

        def work() -> None:
            while not over.wait(SAVE_S):
                with suppress(UserError):  # the last one says so, too
                    self.save(KILLED)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
