"""The leaderboard as data: rows in the order that `scoring.rank` gives, and remarks beside them."""

import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from harness.board import remarks
from harness.board.collect import Calls, Collected
from harness.board.rounding import rounded
from harness.configuration import Configuration
from harness.outcome import Outcome
from harness.submission.name import ORACLE
from harness.task.reference import Reference
from scoring import Entry, SubmissionScore, TaskCalls, TaskScore, noisy_oracle, rank, score_submission

ORACLE_NOISE = 0.02


@dataclass(frozen=True)
class Row:
    """One submission on the board."""

    rank: int | None  #: None: may not be ranked
    submission: str
    kind: str  #: "submission", "baseline" or "oracle"
    result: SubmissionScore
    calls_ok: int
    calls_expected: int
    seconds_per_model: float | None  #: median wall time of a call on a task that is not withheld
    sandboxed: bool
    version: str = ""  #: SHA-256 of the submission's files; empty for the oracle
    asked_at: datetime | None = None  #: when this version was last asked for
    configuration: Configuration | None = None  #: how its calls were made; None for the oracle
    settings: str = ""  #: how that differs from the board's other rows
    stale: int = 0  #: records that do not count, because they are of other models or data
    rounded: tuple[str, ...] = ()  #: the tasks that are withheld: their scores, and `score`, are rounded


@dataclass(frozen=True)
class Board:
    """Rows, best first; the names of the tasks; and what a reader must know, a line each."""

    rows: Sequence[Row]
    tasks: Sequence[str]
    remarks: Sequence[str] = ()


def score_calls(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    """Score one submission on all tasks that there is reference data for."""
    return score_submission({task: calls.on(task, reference) for task, reference in references.items()})


def score_oracle(references: Mapping[str, Reference]) -> SubmissionScore:
    """Score the noisy oracle: the gap itself with a little noise, computed from reference data alone."""
    tasks = {}
    for task, reference in references.items():
        values = noisy_oracle(list(reference.gaps.values()), ORACLE_NOISE)
        tasks[task] = TaskCalls(
            reference.grid, reference.gaps, dict(zip(reference.gaps, map(float, values), strict=True))
        )
    return score_submission(tasks)


def build_board(
    collected: Collected,
    references: Mapping[str, Reference],
    withheld: Collection[str] = (),
    task_notes: Sequence[str] = (),
    command: Callable[[Sequence[Calls]], str] = lambda _: "pgdl run",
) -> Board:
    """Return the board; the noisy oracle is among its rows.

    The scores of the tasks `withheld` are rounded, and the order is that of the rounded scores. `task_notes` are passed
    on; `command` renders what makes some calls again.
    """
    expected = sum(len(reference.models) for reference in references.values())
    settings = remarks.settings_labels(collected.shown)
    exact = [
        *(
            replace(_row(calls, references, expected, withheld), settings=label)
            for calls, label in zip(collected.shown, settings, strict=True)
        ),
        _oracle(references, expected),
    ]
    names = tuple(sorted(set(withheld) & set(references)))
    rows = [replace(row, result=rounded(row.result, withheld), rounded=names) for row in exact]
    entries = [_entry(row) for row in rows]
    of = {id(entry): row for entry, row in zip(entries, rows, strict=True)}  # rows of one submission are called alike
    ranked = [replace(of[id(place.entry)], rank=place.rank) for place in rank(entries)]
    return Board(ranked, list(references), [*task_notes, *remarks.of_records(collected, references, command)])


def _entry(row: Row) -> Entry:
    """Without an official score on any task there is nothing to rank by."""
    scores = [task for task in row.result.tasks.values() if isinstance(task, TaskScore)]
    undefined = bool(scores) and all(task.official is None for task in scores)
    return Entry(row.submission, row.result.score, row.result.complete, row.sandboxed and not undefined)


def _row(calls: Calls, references: Mapping[str, Reference], expected: int, withheld: Collection[str]) -> Row:
    seconds = [row.call_wall_s for (task, _), row in calls.rows.items() if task not in withheld]
    return Row(
        rank=None,
        submission=calls.submission,
        kind="baseline" if calls.is_baseline else "submission",
        result=score_calls(calls, references),
        calls_ok=sum(row.outcome == Outcome.OK for row in calls.rows.values()),
        calls_expected=expected,
        seconds_per_model=statistics.median(seconds) if seconds else None,
        sandboxed=calls.sandboxed,
        version=calls.version,
        asked_at=calls.asked_at,
        configuration=calls.configuration,
        stale=len(calls.stale),
    )


def _oracle(references: Mapping[str, Reference], expected: int) -> Row:
    """The row of the noisy oracle, which never was in a sandbox."""
    return Row(None, ORACLE, "oracle", score_oracle(references), expected, expected, None, sandboxed=True)
