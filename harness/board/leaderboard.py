"""The leaderboard: all recorded submissions under the competition's rule, with the noisy oracle beside them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from harness.board import remarks, repetitions, standings
from harness.board.board import Board, Column, rank_column, rank_rows, score_columns, task_figure
from harness.board.collect import Calls, Collected
from harness.board.oracle import Oracle, combine, score_oracle
from harness.board.rounding import rounding_note
from harness.board.row import Row, make_row
from harness.board.scores import decimal, score_object
from harness.board.stability import own_randomness_object
from harness.format.reference import Reference
from scoring import RULE, HeldOut, SubmissionScore, score_submission

MARKS = {"submission": "", "baseline": "baseline"}

#: Columns after the scores in CSV.
AFTER_SCORES = (
    "seconds_per_model", "calls_ok", "calls_expected", "stale", "sandboxed", "version", "asked_at", "configuration",
    "settings", "own_error",
)  # fmt: skip

#: Keys before the scores in JSON.
BEFORE_SCORES = (
    "rank", "submission", "kind", "calls_ok", "calls_expected", "seconds_per_model", "sandboxed", "version", "asked_at",
    "configuration", "settings", "stale", "rounded",
)  # fmt: skip

#: Columns of a task in tables with a line per task. Failures are in the reason, which hidden tasks withhold.
PER_TASK = ("score", "printed", "kendall", "granulated_kendall", "seconds_per_model", "models", "reason")

#: Only on boards with repetitions.
OWN_ERROR = Column("own ±", lambda row: decimal(row.own_error, 1))


@dataclass(frozen=True)
class Leaderboard(Board):
    """All submissions under the competition's rule.

    Attributes:
        beats: probabilities that a row has the higher score than another one, under their positions as text.
        oracle: the noisy oracle, for comparison by eye alone.
    """

    beats: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    oracle: Oracle = field(default_factory=lambda: combine({}))

    title: ClassVar[str] = "Leaderboard"
    per_task: ClassVar[Sequence[str]] = PER_TASK
    whole: ClassVar[Mapping[str, tuple[type, Callable[[Row], Any]]]] = {
        "rank": (int, lambda row: row.rank),
        "final_score": (float, lambda row: row.score),
        **{column.key: (standings.TYPES[column.key], column.value) for column in standings.FIGURES},
        "own_error": (float, lambda row: row.own_error),
    }

    @property
    def columns(self) -> Sequence[Column]:
        """Rank, submission, mark, differing settings, scores, time and calls."""
        settings = [Column("settings", lambda row: row.settings, "text")] if any(r.settings for r in self.rows) else []
        return [
            rank_column(),
            Column("submission", lambda row: row.submission, "name"),
            Column("mark", mark_of, "text", title=""),
            *settings,
            *score_columns(self.tasks, standings.SHOWN if any(row.standing for row in self.rows) else ()),
            *([OWN_ERROR] if self._has_own_errors else []),
            Column("s/model", lambda row: decimal(row.seconds_per_model, 2)),
            Column("calls", lambda row: f"{row.calls_ok}/{row.calls_expected}{' stale' if row.stale else ''}"),
        ]

    @property
    def figures(self) -> Sequence[Column]:
        """Rank, submission and kind; scores, 0 to 100; calls, version and configuration."""
        return [
            *map(_figure, ("rank", "submission", "kind", "score")),
            *map(task_figure, self.tasks),
            *map(_figure, AFTER_SCORES),
            *standings.FIGURES,
        ]

    @property
    def identity(self) -> Sequence[Column]:
        """Name and kind, version and configuration."""
        return [Column(key, _figure(key).value, "text") for key in ("submission", "kind", "version", "configuration")]

    @property
    def notes(self) -> list[str]:
        """Remarks, the rule, and explanations of the marks."""
        lines = [*self.remarks, RULE, self.oracle.note]
        if any(row.standing for row in self.rows):
            lines.append(standings.NOTE)
        if self._has_own_errors:
            lines.append("own ±: standard error of the score from the measure's own random draws (docs/statistics.md).")
        if any(not row.sandboxed for row in self.rows):
            lines.append("not sandboxed: run with --unsafe-no-sandbox, never ranked.")
        if self.withheld:
            lines += [rounding_note(self.withheld), standings.WITHHELD_NOTE]
        return lines

    @property
    def content(self) -> Any:
        """The rule, the remarks, the oracle, and everything known about each row."""
        rows = [_object(row) for row in self.rows]
        return {"rule": RULE, "remarks": list(self.remarks), "oracle": self.oracle.content, "rows": rows}

    @property
    def _has_own_errors(self) -> bool:
        return any(row.own_error is not None for row in self.rows)

    def is_faint(self, row: Row) -> bool:
        """Baselines, and submissions that were not sandboxed."""
        return not (row.kind == "submission" and row.sandboxed)


def score_calls(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    """Score one submission on all tasks with reference data."""
    return score_submission({task: calls.on(task, reference) for task, reference in references.items()})


def build_board(
    collected: Collected,
    references: Mapping[str, Reference],
    withheld: Collection[str] = (),
    task_notes: Sequence[str] = (),
    held_out: Mapping[str, HeldOut] | None = None,
    command: Callable[[Sequence[Calls]], str] = lambda _: "pgdl run",
) -> Leaderboard:
    """Return the board.

    The scores of the tasks `withheld` are rounded, and rows are ranked by the rounded scores. `task_notes` become
    remarks of the board; `held_out` has the test set of each task, if all are known; `command` renders the command line
    that repeats calls.
    """
    rows = make_rows(collected.shown, references, withheld)
    lines = [
        *task_notes, *remarks.of_records(collected, references, command),
        *repetitions.remarks_on(collected.shown, withheld),
    ]  # fmt: skip
    return ranked_board(rows, score_oracle(references, withheld), lines, held_out, withheld)


def make_rows(shown: Sequence[Calls], references: Mapping[str, Reference], withheld: Collection[str]) -> list[Row]:
    """Return a row per submission, without ranks; the scores of the tasks `withheld` are rounded."""
    labels = remarks.settings_labels(shown)
    return [
        replace(make_row(calls, score_calls(calls, references), references, withheld), settings=label)
        for calls, label in zip(shown, labels, strict=True)
    ]


def ranked_board(
    rows: Sequence[Row],
    oracle: Oracle,
    lines: Sequence[str],
    held_out: Mapping[str, HeldOut] | None,
    withheld: Collection[str],
) -> Leaderboard:
    """Return the board of some rows on the oracle's tasks, with ranks and intervals; `lines` are its remarks.

    Without an official score on any task there is nothing to rank by, and nobody has a rank.
    """
    ranked = rank_rows(rows, lambda row: row.sandboxed and oracle.score is not None)
    compared = standings.compare_rows(ranked, held_out)
    beats = {} if compared is None else compared.beats
    shown = standings.with_standings(ranked, compared)
    return Leaderboard(shown, list(oracle.tasks), lines, frozenset(withheld) & oracle.tasks.keys(), beats, oracle)


def mark_of(row: Row) -> str:
    """Return the mark of a row for readers: baseline, not sandboxed; empty for a submission."""
    return MARKS[row.kind] if row.sandboxed else f"{MARKS[row.kind]} not sandboxed".strip()


def _figure(key: str) -> Column:
    """Return the column of a row's attribute, as text or number."""
    if key == "asked_at":
        return Column(key, lambda row: row.asked_at.isoformat() if row.asked_at else None)
    if key == "configuration":
        return Column(key, lambda row: row.configuration.id if row.configuration else None)
    return Column(key, lambda row: getattr(row, key))


def _object(row: Row) -> dict[str, Any]:
    configuration = None if row.configuration is None else {"id": row.configuration.id, **asdict(row.configuration)}
    before = {name: _figure(name).value(row) for name in BEFORE_SCORES}
    standing = None if row.standing is None else asdict(row.standing)
    own = {"own_randomness": own_randomness_object(row.own_randomness)}
    return before | {"configuration": configuration, "standing": standing} | own | score_object(row.result)
