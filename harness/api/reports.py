"""The function `pgdl.report`: explains why the scores of submissions are not higher."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.api.alike import shown_once
from harness.api.competition import (
    Submissions,
    choose,
    failed_outputs,
    read_competition,
    read_current,
    remarks_on,
    require_records,
)
from harness.board.board import Board
from harness.board.collect import CallRecord, Calls
from harness.board.insight import Insight, find_insights
from harness.board.remarks import without_commands
from harness.board.row import Row
from harness.board.versions import find_versions
from harness.credentials import RESULTS, Address
from harness.records import Records
from harness.site import paths_of, records_of, submission_pages, write_report
from harness.summarized import Summarized
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold


@dataclass(frozen=True, repr=False)
class ReportResult(Summarized):
    """The board of all recorded submissions, and explanations of the requested rows."""

    board: Board  #: requested rows include the output of their failed calls
    insights: Mapping[int, Mapping[str, Insight]]  #: position of a requested row -> task -> explanation of the score
    remarks: Sequence[str] = ()  #: remarks on the tasks, and on the records of the requested rows

    @cached_property
    def pages(self) -> list[dict[str, Any]]:
        """A page per requested row, as a dictionary: `label`, `summary`, `advice`, `parts` (one per task) and more."""
        pages = submission_pages(self.board, self.insights, paths_of(self.board))
        return [page | {"label": page["row"].label, "remarks": without_commands(self.remarks)} for page in pages]

    @property
    def summary(self) -> list[str]:
        """The score of each requested row, and the remarks."""
        return [*(f"{page['label']}: {page['summary']}" for page in self.pages), *self.remarks]

    @property
    def content(self) -> list[dict[str, Any]]:
        """The requested rows of the board as JSON objects, with all digits and with the explanations."""
        rows = replace(self.board, rows=[self.board.rows[number] for number in self.insights]).content["rows"]
        of_rows = zip(rows, self.pages, self.insights.values(), strict=True)
        return [_explained(row, page, insights) for row, page, insights in of_rows]

    def write(self, directory: Path | str) -> list[Path]:
        """Write a page with plots for each requested row, and return the files. Raise `UserError` if writing fails."""
        paths = paths_of(self.board)
        files = [Path(directory) / Path(paths[number]).name for number in self.insights]
        for page, file in zip(self.pages, files, strict=True):
            write_report(page, file)
        return files


def _explained(row: dict[str, Any], page: dict[str, Any], insights: Mapping[str, Insight]) -> dict[str, Any]:
    tasks = {}
    for part in page["parts"]:
        name, insight = part["name"], insights.get(part["name"])
        tasks[name] = row["tasks"][name] | {
            "why": part["why"],
            "deciding": None if insight is None else list(insight.explanation.deciding),
        }
    return row | {"label": page["label"], "summary": page["summary"], "advice": page["advice"], "tasks": tasks}


def report(
    submissions: Submissions = (),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    withhold: str = Withhold.AUTO.value,
) -> ReportResult:
    """Explain why the scores of submissions are not higher. Ranks and intervals refer to all recorded submissions.

    Args:
        submissions: paths and measures as for `run`, in their current version, or names of recorded submissions; empty:
            all recorded submissions.

    Raises:
        UserError: tasks or records are missing or invalid.
    """
    competition = read_competition(Path(tasks_dir), Withhold(withhold), task_names)
    with Records(results, read_only=True) as records:
        found = find_versions(records, competition.references)
        require_records(found, records.name)
        chosen = choose(found, submissions, records.name, can_run=competition.can_run)
        chosen = chosen if submissions else shown_once(chosen)[0]
        named = {calls.row_key for calls in chosen.shown}
        shown = {calls.row_key for calls in found.shown}
        others = [calls for calls in found.left_out if calls.row_key in named - shown]
        found, _ = shown_once(replace(found, shown=[*found.shown, *others]), keep=named)
        collected = read_current(records, competition, found)
        wanted = {_identity(calls): calls for calls in collected.shown if calls.row_key in named}
        outputs = failed_outputs(records, list(wanted.values()))
        explained = replace(collected, shown=list(wanted.values()), left_out=chosen.left_out)
        remarks = remarks_on(records, competition, explained, results)
    board = competition.board(collected)
    numbered = {number: wanted[_identity(row)] for number, row in enumerate(board.rows) if _identity(row) in wanted}
    rows = [
        _with_outputs(row, numbered[number], outputs) if number in numbered else row
        for number, row in enumerate(board.rows)
    ]
    return ReportResult(replace(board, rows=rows), find_insights(rows, numbered), remarks)


def _identity(one: Calls | Row) -> tuple[object, ...]:
    return one.submission, one.version, one.configuration


def _with_outputs(row: Row, calls: Calls, outputs: Mapping[str, str]) -> Row:
    records: dict[str, dict[str, CallRecord]] = {name: {} for name in row.tasks}
    for record in records_of(calls, [name for name, task in row.tasks.items() if not task.withheld], outputs):
        records[record.task][record.model] = record
    tasks = {name: replace(task, calls=records[name]) for name, task in row.tasks.items()}
    return replace(row, tasks=tasks)
