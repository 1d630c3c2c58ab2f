"""Everything that is known about submissions: their part of the whole board's site."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.api.chosen import choose, require_records
from harness.api.competition import collect_records, failed_outputs, read_competition
from harness.board.leaderboard import build_board
from harness.credentials import RESULTS
from harness.records import Records
from harness.site import Site, gather, make_site, submission_page, write_report
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold


@dataclass(frozen=True)
class ReportResult:
    """The site of all recorded submissions, and the positions of the rows of those that were asked for."""

    site: Site
    chosen: Sequence[int]

    @property
    def pages(self) -> list[dict[str, Any]]:
        """What their pages say: `label`, `summary`, `parts` (a dictionary for each task), `advice` and more."""
        site = self.site
        return [
            submission_page(site.board, number, site.insights[number], site.pages)
            | {"label": site.board.rows[number].label}
            for number in self.chosen
        ]

    def write(self, directory: Path) -> list[Path]:
        """Write a page of each, a single file with plots; raises `UserError` if one cannot be written."""
        files = [directory / Path(self.site.pages[number]).name for number in self.chosen]
        for number, file in zip(self.chosen, files, strict=True):
            write_report(self.site, number, file)
        return files


def report(
    submissions: Sequence[str] | str = (),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: str | Path = RESULTS,
    withhold: str = Withhold.AUTO.value,
) -> ReportResult:
    """Explain the scores of submissions (default: of all recorded ones) among all recorded ones.

    Args:
        submissions: paths and names as for `run`, for the files in their current version, or names of
            recorded submissions.
        tasks_dir: directory of the tasks.
        task_names: only these tasks; empty: all.
        results: database of the records.
        withhold: whether scores are rounded; `auto`: on tasks that are marked as hidden.

    Raises:
        UserError: tasks or records are missing or invalid.
    """
    competition = read_competition(Path(tasks_dir), Withhold(withhold), task_names)
    with Records(str(results), must_exist=True) as records:
        collected = collect_records(records, competition)
        require_records(collected, records.name)
        named = choose(collected, submissions, records.name).shown
        outputs = failed_outputs(records, collected)
    known = [*collected.shown, *(calls for calls in named if calls not in collected.shown)]
    board = build_board(
        replace(collected, shown=known), competition.references, competition.withheld, held_out=competition.held_out
    )
    site = make_site(gather(known, board, competition.references, competition.n_test, outputs))
    wanted = {(calls.submission, calls.version, calls.configuration) for calls in named}
    rows = enumerate(site.board.rows)
    return ReportResult(site, [n for n, row in rows if (row.submission, row.version, row.configuration) in wanted])
