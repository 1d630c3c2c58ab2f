"""Compares the boards before and after a change, and writes the lines and notes of a report."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from harness.board.board import Board
from harness.board.collect import Calls
from harness.board.on_task import MISSING
from harness.board.remarks import find_same
from harness.board.row import Row
from harness.ci.change import Change, path_in_repository
from harness.ci.reading import Touched
from harness.ci.report import Line, Moved, Same
from harness.outcome import Outcome
from harness.task.task_notes import abbreviated

#: The command that makes missing calls of untouched submissions.
AGAIN = "pgdl ci without --base"


def lines_of(
    change: Change, folder: str, before: Board, after: Board, touched: Touched, unscored: Mapping[str, Counter[str]]
) -> list[Line]:
    """Return a line for each submission that the change touches or removes.

    `unscored`: submission -> outcome -> number of calls on models without reference data. Boards omit such calls.
    """
    earlier, later = newest_rows(before), newest_rows(after)
    lines = []
    for name, kind in change.touched.items():
        kind = kind if change.base is not None else "evaluated"
        old = change.renamed.get(name, "")
        path, traceback = path_in_repository(folder, change.after[name]), touched.tracebacks.get(name, "")
        line = _before(Line(name, path, kind, renamed_from=old, traceback=traceback), earlier.get(old or name))
        if name in later:
            line = _beside_neighbours(_after(line, later[name]), later[name], after)
        elif name in touched.problems:
            line = replace(line, change="refused", problem=touched.problems[name])
        lines.append(_with(line, unscored.get(name, Counter())))
    for name in change.removed:
        path = path_in_repository(folder, change.before[name])
        lines.append(_before(Line(name, path, "removed"), earlier.get(name)))
    return lines


def moved_by(change: Change, before: Board, after: Board) -> list[Moved]:
    """Return the untouched submissions whose rank changes, in the order of the board; [] if the change has no base."""
    if change.base is None:
        return []
    earlier = newest_rows(before)
    others = {name: row for name, row in newest_rows(after).items() if name not in change.touched and name in earlier}
    pairs = [(earlier[name], row) for name, row in others.items()]
    return [Moved(row.submission, old.rank, row.rank) for old, row in pairs if old.rank != row.rank]


def same_as(touched: Collection[str], shown: Sequence[Calls]) -> list[Same]:
    """Return groups of submissions with the same files or values. Each group has a submission in `touched`."""
    return [Same(what, names) for what, names in find_same(shown) if not set(touched).isdisjoint(names)]


def missing_in(board: Board, names: Collection[str]) -> list[str]:
    """Return the submissions among `names` that lack calls, sorted. While calls are missing, ranks mean nothing."""
    rows = newest_rows(board)
    return sorted(name for name in names if name not in rows or rows[name].failures[MISSING])


def without_ranks(line: Line) -> Line:
    """Return a line of a report without its ranks and without the names of the neighbours on the board."""
    return replace(
        line, rank_before=None, rank=None, best_rank=None, worst_rank=None, above="", above_p_value=None, below="",
        below_p_value=None,
    )  # fmt: skip


def notes_on(change: Change, folder: str, unknown: Sequence[str]) -> list[str]:
    """Return a line for each note on a change.

    `unknown`: submissions at the base that the change overwrites, and whose records are missing or stale.
    """
    notes = []
    for name in change.diverged:
        done = "changed" if name in change.before else "removed"
        notes.append(
            f"{name}: the base has {done} it since the change branched off, so a merge may conflict, or give other "
            "files than those evaluated here; rebase the change, or merge the base into it"
        )
    if unknown:
        lacking = f"at the base, records of {abbreviated(unknown)} are missing or stale"
        notes.append(f"no ranks before the change: {lacking}; {AGAIN} makes them")
    if stray := [path for path in change.others if folder != "." and path.startswith(f"{folder}/")]:
        notes.append(f"not submissions, by their names: {abbreviated(stray)}; expected NAME.py, NAME.zip or a folder")
    return notes


def newest_rows(board: Board) -> dict[str, Row]:
    """Return name of a submission -> its most recently requested row, in the order of the board."""
    rows: dict[str, Row] = {}
    for row in board.rows:
        known = rows.get(row.submission)
        if known is None or row.age < known.age:
            rows[row.submission] = row
    return rows


def _before(line: Line, row: Row | None) -> Line:
    return line if row is None else replace(line, rank_before=row.rank, score_before=row.score)


def _after(line: Line, row: Row) -> Line:
    line = replace(
        line, rank=row.rank, score=row.score, chance=row.chance_level, p_value=row.adjusted_p_value,
        calls_ok=row.calls_ok, calls_expected=row.calls_expected, machine_failed=row.failures[Outcome.INFRA_ERROR],
        problem=row.reason,
    )  # fmt: skip
    if (found := row.standing) is None:
        return line
    return replace(line, low=found.low, high=found.high, best_rank=found.best_rank, worst_rank=found.worst_rank)


def _with(line: Line, unscored: Counter[str]) -> Line:
    return replace(
        line, calls_ok=line.calls_ok + unscored[Outcome.OK], calls_expected=line.calls_expected + unscored.total(),
        machine_failed=line.machine_failed + unscored[Outcome.INFRA_ERROR],
    )  # fmt: skip


def _beside_neighbours(line: Line, row: Row, board: Board) -> Line:
    if row.rank is None:
        return line
    own = next(n for n, other in enumerate(board.rows) if other is row)
    ranked = [(n, other, other.rank) for n, other in enumerate(board.rows) if other.rank is not None]
    above = [(n, other) for n, other, rank in ranked if rank < row.rank]
    below = [(n, other) for n, other, rank in ranked if rank > row.rank]
    if above:
        n, other = above[-1]
        line = replace(line, above=other.submission, above_p_value=_p_value(board, n, own))
    if below:
        n, other = below[0]
        line = replace(line, below=other.submission, below_p_value=_p_value(board, own, n))
    return line


def _p_value(board: Board, number: int, other: int) -> float | None:
    found = board.difference(number, other)
    return None if found is None else found.p_value
