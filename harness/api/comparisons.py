"""A table of the library's measures on every model of every task."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import baselines
from harness.api.calls import prepare_run, record_calls
from harness.api.execution import USUAL, Execution
from harness.api.progress import SILENT, Progress
from harness.board.board import Board
from harness.board.comparison import compare as compare_rows
from harness.board.oracle import Oracle, score_oracle
from harness.credentials import RESULTS
from harness.errors import UserError
from harness.format.reference import Reference
from harness.hints import did_you_mean
from harness.names import ALL
from harness.records import Records
from harness.submission import Submission, find_baseline
from harness.task import DEFAULT_DIRECTORY
from harness.task.task import Task


@dataclass(frozen=True)
class CompareResult:
    """Measures and their scores, with the noisy oracle for comparison by eye."""

    board: Board
    oracle: Oracle
    records: str  #: name of the database
    is_sandboxed: bool

    @property
    def failed(self) -> bool:
        """Whether a call failed."""
        return any(row.failures for row in self.board.rows)


def compare(
    measures: Sequence[str] = (ALL,),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: str | Path = RESULTS,
    force: bool = False,
    retry_timeouts: bool = False,
    execution: Execution = USUAL,
    progress: Progress = SILENT,
) -> CompareResult:
    """Run measures of the library on every model of every task, and compare their scores.

    Args:
        measures: names, with or without parameters, families, or `all`.
        tasks_dir: directory of the tasks, with their reference data.
        task_names: only these tasks; empty: all.
        results: database of the records.
        force: make recorded calls again.
        retry_timeouts: make recorded calls again that exceeded their time with less than half of a processor.
        execution: limits, sandbox and engine.
        progress: shows the work.

    Raises:
        UserError: a task, its reference data or a measure is missing or invalid, or no sandbox works here.
    """
    chosen = choose_measures(measures)
    run = prepare_run([one for one, _ in chosen], Path(tasks_dir), task_names, execution, progress)
    references = _require_references(run.tasks, Path(tasks_dir))
    with Records(str(results)) as records:
        plan, _ = record_calls(run, records, progress, force=force, retry_timeouts=retry_timeouts)
        families = {submission.name: family for submission, family in chosen}
        board = compare_rows(records.newest([call.key for call in plan.calls]), references, families, run.withheld)
    oracle = score_oracle(references, run.withheld)
    return CompareResult(board, oracle, records.name, run.setup.executor.is_sandboxed)


def choose_measures(texts: Iterable[str]) -> list[tuple[Submission, str]]:
    """Return the measures of the option --measures, each once, with their families; raises `UserError`."""
    families = {measure.family for measure in baselines.MEASURES.values()}
    chosen = {}
    for text in texts:
        for part in _parts(text):
            names = [name for name, one in baselines.MEASURES.items() if part in (ALL, one.family)] or [part]
            for name in names:
                submission = find_baseline(name)
                if submission is None:
                    hint = did_you_mean(name, [*baselines.MEASURES, *families, ALL]) or "pgdl measures lists them"
                    raise UserError(f"--measures: no measure or family {name!r}", remedy=hint)
                chosen[name] = submission, baselines.MEASURES[name.partition(":")[0]].family
    return list(chosen.values())


def _parts(text: str) -> list[str]:
    """Split at commas, except those between the parameters of a measure."""
    return [part.strip() for part in re.split(r",(?![^:=,]*=)", text)]


def _require_references(tasks: Sequence[Task], tasks_dir: Path) -> dict[str, Reference]:
    """Return the reference data of all tasks; raises `UserError` if any task has none."""
    missing = [task.name for task in tasks if task.reference is None]
    if missing:
        remedy = "choose tasks that have some with --task"
        raise UserError(f"no reference data of {', '.join(missing)}", file=tasks_dir, remedy=remedy)
    return {task.name: task.reference for task in tasks if task.reference is not None}
