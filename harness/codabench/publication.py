"""Final scores of a hidden phase, on the platform's own board.

An organiser may change scores that are there (api/views/leaderboards.py:38): the scoring program of a hidden phase
writes the one that is changed here.
"""

from collections.abc import Iterable
from pathlib import Path

from harness.board.row import Row
from harness.codabench.columns import COMPLETE, FINAL, completeness
from harness.codabench.downloads import read_table
from harness.codabench.entries import OpenedPhase
from harness.submission import find_submission


def publish(phase: OpenedPhase, rows: Iterable[Row], directory: Path) -> tuple[int, list[str]]:
    """Put the scores of rows on the board; returns the number of submissions, and lines on those without a score there.

    `directory` has the submissions that were downloaded and evaluated. Raises `UserError` if the platform cannot be
    reached, refuses or fails.
    """
    scores, done, notes = {(row.submission, row.version): row for row in rows}, 0, []
    listed = {one.id: one for one in phase.submissions if one.on_leaderboard}
    for one in read_table(directory):
        file = directory / f"{one.name}.zip"
        row, there = scores.get((one.name, find_submission(str(file), one.name).digest)), listed.get(one.submission)
        cells = {cell.column_key: cell for cell in there.scores} if there else {}
        if row is None or row.score is None:
            notes.append(f"{one.name}: left out: no score of {file} in the results")
            continue
        if FINAL not in cells:
            notes.append(f"{one.name}: left out: submission {one.submission} has no `{FINAL}` on the platform's board")
            continue
        for key, value in ((FINAL, row.score), (COMPLETE.key, completeness(row))):
            if key in cells:
                phase.platform.patch(f"submission_scores/{cells[key].id}/", {"score": f"{value:.4f}"})
        done += 1
    return done, notes
