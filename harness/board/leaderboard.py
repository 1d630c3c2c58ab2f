"""The leaderboard: all recorded submissions, ranked by the competition's rule."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.board import rankings, remarks, repetitions, states
from harness.board.across_tasks import across_tasks_object
from harness.board.board import Board
from harness.board.collect import Calls, Collected
from harness.board.disclosure import disclosure_note
from harness.board.repetitions import own_randomness_object
from harness.board.row import Row, make_row
from harness.board.scores import score_object
from harness.board.yardsticks import is_scored, score_yardsticks
from harness.format.reference import Reference
from scoring import RULE, HeldOut, SubmissionScore, score_submission


class Leaderboard(Board):
    """The board of all recorded submissions."""

    title, kind = "Leaderboard", 0

    @property
    def explanations(self) -> list[str]:
        """The rule, the yardsticks, and explanations of the columns."""
        explained = [column.note for column in self.columns if column.note]
        told = [] if self.withheld else [self.yardsticks.note_on_oracle, *self.yardsticks.notes_on_fit]
        return [RULE, *told, *explained, *rankings.notes_on_tasks(self.rows)]

    @property
    def marks(self) -> list[str]:
        """Explanations of rows whose calls ran outside the sandbox, and of hidden tasks."""
        unsafe = "not sandboxed: run with --unsafe-no-sandbox, never ranked."
        lines = [] if all(row.sandboxed for row in self.rows) else [unsafe]
        return [*lines, disclosure_note(self.withheld)] if self.withheld else lines

    @property
    def content(self) -> dict[str, Any]:
        """The whole board for JSON."""
        head = {"rule": RULE, "remarks": list(self.remarks), **self.yardsticks.content}
        return head | {"across_tasks": across_tasks_object(self), "rows": list(map(self._object, self.rows))}

    def is_secondary(self, row: Row) -> bool:
        """Return whether a row is a baseline, or ran outside the sandbox."""
        return not (row.kind == "submission" and row.sandboxed)

    def _object(self, row: Row) -> dict[str, Any]:
        configuration = None if row.configuration is None else {"id": row.configuration.id, **asdict(row.configuration)}
        head = self.head_of(row) | {"rounded": row.rounded}
        standing = None if row.standing is None else asdict(row.standing)
        own = {"own_randomness": own_randomness_object(row.own_randomness)}
        score = score_object(row.result)
        for name, task in row.tasks.items():
            beside = {"chance": task.chance_level, "p_value": task.p_value, "adjusted_p_value": task.adjusted_p_value}
            score["tasks"][name] |= beside | {column.key: column.value(task) for column in self.more}
        return head | {"configuration": configuration, "standing": standing} | own | score


def score_calls(calls: Calls, references: Mapping[str, Reference]) -> SubmissionScore:
    """Return the scores of a submission on all tasks under the competition's rule."""
    return score_submission({task: calls.on(task, reference) for task, reference in references.items()})


def build_board(
    collected: Collected,
    references: Mapping[str, Reference],
    withheld: Collection[str] = (),
    task_notes: Sequence[str] = (),
    held_out: Mapping[str, HeldOut] | None = None,
    command: Callable[[Sequence[Calls]], str] = lambda _: "pgdl run",
) -> Board:
    """Return the leaderboard.

    `withheld` names the hidden tasks. `held_out` maps each task to its test set; it is None if some test set is not
    known. `command` returns the command line that makes outdated calls again.
    """
    hidden = frozenset(withheld) & references.keys()
    rows = make_rows(collected.shown, references, hidden)
    lines = [
        *task_notes, *remarks.remarks_on_records(collected, command),
        *states.remark_on_missing_values(rows), *repetitions.remarks_on(collected.shown, hidden),
    ]  # fmt: skip
    public = {name: reference for name, reference in references.items() if name not in hidden}
    board = Leaderboard(
        rows, list(references), lines, hidden, is_scored=is_scored(references),
        yardsticks=score_yardsticks(public, references),
    )  # fmt: skip
    return rankings.ranked(board, held_out)


def make_rows(shown: Sequence[Calls], references: Mapping[str, Reference], withheld: Collection[str]) -> list[Row]:
    """Return a row for each element of `shown`, without a rank; scores on the hidden tasks `withheld` are rounded."""
    labels = remarks.settings_labels(shown)
    return [
        replace(make_row(calls, score_calls(calls, references), references, withheld), settings=label)
        for calls, label in zip(shown, labels, strict=True)
    ]
