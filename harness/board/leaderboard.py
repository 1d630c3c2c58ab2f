"""The leaderboard as data: one row per submission, in the order that `scoring.rank` gives."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.board.collect import Calls
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
    seconds_per_model: float | None  #: median wall time of a call
    sandboxed: bool


def score_calls(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    """Score one submission on all tasks that there is reference data for."""
    return score_submission({task: calls.on(task, reference) for task, reference in references.items()})


def build_board(collected: Sequence[Calls], references: Mapping[str, Reference]) -> list[Row]:
    """Return the board's rows, best first; the noisy oracle is among them."""
    expected = sum(len(reference.models) for reference in references.values())
    rows = [_row(calls, references, expected) for calls in collected]
    rows.append(_oracle(references, expected))
    entries = {Entry(row.submission, row.result.score, row.result.complete, row.sandboxed): row for row in rows}
    return [replace(entries[ranked.entry], rank=ranked.rank) for ranked in rank(entries)]


def _row(calls: Calls, references: Mapping[str, Reference], expected: int) -> Row:
    seconds = [row.call_wall_s for row in calls.rows.values()]
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
