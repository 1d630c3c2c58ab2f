"""The functions `pgdl.compare` and `compare_recorded`: scores of the library's measures in one table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import baselines
from harness.api.alike import ordered_alike, told_alike
from harness.api.calls import Run, begin_run, open_records, record_calls
from harness.api.chosen_measures import choose_measures, without_parameters
from harness.api.competition import collect_records, read_competition, remarks_on
from harness.api.execution import USUAL, Execution
from harness.api.needs import find_left_out
from harness.api.progress import SILENT, Progress
from harness.api.summarized import ShownAsBoard
from harness.board.board import Board
from harness.board.collect import Calls
from harness.board.comparison import compare_calls
from harness.board.disclosure import notes_on_marks
from harness.board.published import read_published, require_published, with_published
from harness.board.versions import find_versions, read_records
from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.names import ALL
from harness.records import Records
from harness.task import DEFAULT_DIRECTORY
from harness.task.contents import Contents
from harness.task.hidden import Withhold
from harness.task.task_notes import abbreviated


@dataclass(frozen=True, repr=False)
class CompareResult(ShownAsBoard):
    """A table of measures with their scores."""

    board: Board
    records: str  #: name of the database
    is_sandboxed: bool  #: whether all calls were made in a sandbox

    @property
    def failed(self) -> bool:
        """Whether any call of the table failed."""
        return any(row.failures for row in self.board.rows)


def compare(
    measures: Sequence[str] = (ALL,),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    force: bool = False,
    retry_timeouts: bool = False,
    published: str | None = None,
    execution: Execution = USUAL,
    progress: Progress = SILENT,
) -> CompareResult:
    """Run measures of the library on every model of every task, and compare their scores.

    If several selected measures always order models alike, such as a measure and its logarithm, only one of them is
    called. If all models of a task lack an input that a measure needs, the measure is not called on the task, and the
    table says so. On a hidden task, the measure is called nevertheless: otherwise the table would reveal facts about
    the models.

    Args:
        published: name of a corpus, e.g. `pgdl2020`, whose published scores are shown beside the computed scores.

    Raises:
        UserError: a task, its reference data or a measure is missing or invalid, a measure selected by its name works
            on no task, or no sandbox works here.
    """
    chosen = choose_measures(measures)
    same = ordered_alike([one.submission.name for one in chosen])
    chosen = [one for one in chosen if one.submission.name not in same]
    others = read_published(published) if published else []
    submissions = [one.submission for one in chosen]
    with begin_run(submissions, Path(tasks_dir), task_names, execution, progress) as run:
        if missing := [task.name for task in run.tasks if task.reference is None]:
            lacking, remedy = f"no reference data of {', '.join(missing)}", "choose other tasks with --task"
            raise UserError(lacking, file=Path(tasks_dir), remedy=remedy)
        references = {task.name: task.reference for task in run.tasks if task.reference is not None}
        whole = [name for name, reference in references.items() if reference.part is None]
        if published:
            require_published(others, published, whole)
        run = replace(run, left_out=find_left_out(run.submissions, run.shown))
        _require_useful([one.submission.name for one in chosen if one.is_named], run)
        with open_records(run, results) as records:
            plan, _ = record_calls(run, records, progress, force=force, retry_timeouts=retry_timeouts)
            families = {one.submission.name: one.family for one in chosen}
            planned = {(call.submission.name, call.submission.digest, call.configuration.id) for call in plan.calls}
            found = find_versions(records, references, everything=True, counts=lambda calls: calls.row_key in planned)
            contents = {
                task.name: Contents({model.id: model.digest for model in task.models}, task.data.digest)
                for task in run.tasks
            }
            shown = read_records(records, found, references, contents).shown
    called = {one.submission: one for one in shown}
    every = [called.get(measure, Calls(measure, is_baseline=True, rows={})) for measure in families]
    board = compare_calls(every, references, families, run.withheld, run.left_out)
    marks = notes_on_marks(shown, run.withheld, Withhold(execution.withhold))
    board = replace(board, remarks=[*marks, *told_alike(same), *board.remarks])
    board = with_published(board, others, whole) if published else board
    return CompareResult(board, records.name, run.executor.is_sandboxed)


def compare_recorded(
    measures: Sequence[str] = (ALL,),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    withhold: str = Withhold.AUTO.value,
    published: str | None = None,
) -> CompareResult:
    """Compare measures by their recorded calls. No call is made, so the tasks need reference data, but no models.

    If a measure is recorded with several settings, the table uses the settings that were requested last. Settings
    without a sandbox are only used if no others are recorded. `compare` states why it did not call a measure on a task;
    this table only shows that the calls are missing.

    Args:
        measures: as in `compare`; a family, a cost, `all` or `cheap` selects recorded measures with any parameters.
        published: as in `compare`.

    Raises:
        UserError: reference data or records are missing or invalid, or a measure selected by its name has no record.
    """
    chosen = choose_measures(measures)
    several = {one.submission.name for one in chosen if not one.is_named}
    named = {one.submission.name for one in chosen} - several
    others = read_published(published) if published else []
    competition = read_competition(Path(tasks_dir), Withhold(withhold), task_names)
    whole = [name for name, reference in competition.references.items() if reference.part is None]
    if published:
        require_published(others, published, whole)
    with Records(results, read_only=True) as records:
        collected = collect_records(records, competition)
        of_library = [one for one in collected.shown if one.is_baseline]
        found = [one for one in of_library if one.submission in named or without_parameters(one.submission) in several]
        same = ordered_alike({calls.submission for calls in found})
        found = [calls for calls in found if calls.submission not in same]
        shown = _most_recent(found)
        collected = replace(collected, shown=shown, left_out=[])
        if (missing := named - same.keys() - {calls.submission for calls in shown}) or not shown:
            lacking = f"no record of {', '.join(sorted(missing)) or 'any of them'}"
            raise UserError("--measures", file=records.name, expected="recorded measures of these tasks", found=lacking)
        lines = remarks_on(records, competition, collected, results)
    if rest := list(dict.fromkeys(calls.submission for calls in found if calls not in shown)):
        lines.append(f"recorded in other settings, too, which are not compared: {abbreviated(rest)}")
    families = {one.submission: baselines.MEASURES[without_parameters(one.submission)].family for one in shown}
    board = compare_calls(shown, competition.references, families, competition.withheld)
    board = replace(board, remarks=[*lines, *told_alike(same), *board.remarks])
    board = with_published(board, others, whole) if published else board
    return CompareResult(board, records.name, all(calls.sandboxed for calls in shown))


def _most_recent(found: Sequence[Calls]) -> list[Calls]:
    by_measure: dict[str, list[Calls]] = {}
    for calls in found:
        by_measure.setdefault(calls.submission, []).append(calls)
    return [min(several, key=lambda calls: (not calls.sandboxed, calls.age)) for several in by_measure.values()]


def _require_useful(named: Sequence[str], run: Run) -> None:
    for measure in named:
        reasons = [run.left_out.get((measure, task.name)) for task in run.tasks]
        if all(reasons):
            where = ", ".join(task.name for task in run.tasks)
            remedy = "leave it out, or choose other tasks with --task"
            raise UserError(f"--measures: {measure} cannot work on {where}: {reasons[0]}", remedy=remedy)
