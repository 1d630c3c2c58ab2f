"""The leaderboard as data: one row per submission, in the order that `scoring.rank` gives."""

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.board.collect import Calls
from harness.board.rounding import rounded
from harness.sandbox.outcome import Outcome
from harness.task.reference import Reference
from scoring import Entry, SubmissionScore, TaskCalls, noisy_oracle, rank, score_submission

#: Name of the row that is computed from the gaps themselves: about the best that any measure can do.
ORACLE = "noisy_oracle"
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
    rounded: tuple[str, ...] = ()  #: the tasks that are withheld: their scores, and `score`, are rounded


def score_calls(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    """Score one submission on all tasks that there is reference data for."""
    return score_submission({task: calls.on(task, reference) for task, reference in references.items()})


def build_board(
    collected: Sequence[Calls], references: Mapping[str, Reference], withheld: Collection[str] = ()
) -> list[Row]:
    """Return the board's rows, best first; the noisy oracle is among them.

    The scores of the tasks `withheld` are rounded, and the order is that of the rounded scores.
    """
    expected = sum(len(reference.models) for reference in references.values())
    exact = [*(_row(calls, references, expected, withheld) for calls in collected), _oracle(references, expected)]
    names = tuple(sorted(set(withheld) & set(references)))
    rows = [replace(row, result=rounded(row.result, withheld), rounded=names) for row in exact]
    entries = [Entry(row.submission, row.result.score, row.result.complete, row.sandboxed) for row in rows]
    of = {id(entry): row for entry, row in zip(entries, rows, strict=True)}  # a submission may be called as the oracle
    return [replace(of[id(ranked.entry)], rank=ranked.rank) for ranked in rank(entries)]


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
    )


def _oracle(references: Mapping[str, Reference], expected: int) -> Row:
    """The gap itself with a little noise, computed from reference data alone, never in a sandbox."""
    tasks = {}
    for task, reference in references.items():
        values = noisy_oracle(list(reference.gaps.values()), ORACLE_NOISE)
        tasks[task] = TaskCalls(
            reference.grid, reference.gaps, dict(zip(reference.gaps, map(float, values), strict=True))
        )
    return Row(None, ORACLE, "oracle", score_submission(tasks), expected, expected, None, sandboxed=True)
