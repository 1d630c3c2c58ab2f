"""The leaderboard: all recorded submissions under the competition's rule, with yardsticks beside them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.board import rankings, remarks, repetitions
from harness.board.across_tasks import across_tasks_object
from harness.board.board import Board, Layout, rank_rows
from harness.board.chance import with_chance, with_p_values
from harness.board.collect import Calls, Collected
from harness.board.column import TaskColumn, per_row
from harness.board.disclosure import disclosure_note
from harness.board.hyperparameters import Hyperparameters, score_hyperparameters
from harness.board.layouts import leaderboard
from harness.board.oracle import Oracle, is_scored, score_oracle
from harness.board.row import Row, make_row
from harness.board.scores import score_object
from harness.board.stability import own_randomness_object
from harness.format.reference import Reference
from scoring import RULE, HeldOut, SubmissionScore, score_submission

#: Keys in JSON that precede everything known about each row.
HEAD = per_row(leaderboard("j"), tasks=())


def _notes(board: Board) -> list[str]:
    """The rule, and explanations of the columns."""
    explained = [column.note for column in board.columns if column.note]
    yardsticks = [] if board.withheld else [board.oracle.note, *board.hyperparameters.notes]
    return [RULE, *yardsticks, *explained, *rankings.notes_on_tasks(board.rows)]


def _marks(board: Board) -> list[str]:
    lines = []
    if any(not row.sandboxed for row in board.rows):
        lines.append("not sandboxed: run with --unsafe-no-sandbox, never ranked.")
    if board.withheld:
        lines.append(disclosure_note(board.withheld))
    return lines


def _content(board: Board) -> dict[str, Any]:
    rows = [_object(row, board.more) for row in board.rows]
    yardsticks = {"oracle": board.oracle.content, "hyperparameters": board.hyperparameters.content}
    head = {"rule": RULE, "remarks": list(board.remarks), **yardsticks}
    return head | {"across_tasks": across_tasks_object(board), "rows": rows}


def _object(row: Row, more: Sequence[TaskColumn]) -> dict[str, Any]:
    configuration = None if row.configuration is None else {"id": row.configuration.id, **asdict(row.configuration)}
    head = {column.key: column.value(row) for column in HEAD} | {"rounded": row.rounded}
    standing = None if row.standing is None else asdict(row.standing)
    own = {"own_randomness": own_randomness_object(row.own_randomness)}
    score = score_object(row.result)
    for name, task in row.tasks.items():
        score["tasks"][name] |= {
            "chance": task.chance_level,
            "p_value": task.p_value,
            "adjusted_p_value": task.adjusted_p_value,
        } | {column.key: column.value(task) for column in more}
    return head | {"configuration": configuration, "standing": standing} | own | score


#: Layout of all recorded submissions under the competition's rule. Failures on a task are in the reason, which hidden
#: tasks withhold.
LEADERBOARD = Layout(
    "Leaderboard",
    columns=leaderboard("r"),
    figures=leaderboard("f"),
    lines=leaderboard("t"),
    notes=_notes,
    marks=_marks,
    content=_content,
    is_faint=lambda row: not (row.kind == "submission" and row.sandboxed),
)


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
) -> Board:
    """Return the board.

    The scores of the tasks `withheld` are rounded, and rows are ranked by the rounded scores. `task_notes` become
    remarks of the board; `held_out` has the test set of each task, if all are known; `command` renders the command line
    that repeats calls.
    """
    rows = make_rows(collected.shown, references, withheld)
    lines = [
        *task_notes, *remarks.remarks_on_records(collected, references, command),
        *repetitions.remarks_on(collected.shown, withheld),
    ]  # fmt: skip
    told = score_hyperparameters(references, withheld)
    oracle, scored = score_oracle(references, withheld), is_scored(references)
    return ranked_board(rows, oracle, told, lines, held_out, withheld, scored=scored)


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
    hyperparameters: Hyperparameters,
    lines: Sequence[str],
    held_out: Mapping[str, HeldOut] | None,
    withheld: Collection[str],
    *,
    scored: bool,
) -> Board:
    """Return the board of some rows on the oracle's tasks, with ranks and intervals; `lines` are its remarks.

    Unless a task can have an official score (`scored`), there is nothing to rank by, and no row has a rank.
    """
    ranked = rank_rows(with_chance(rows), lambda row: row.sandboxed and scored)
    compared = rankings.compare_rows(ranked, held_out)
    shown = rankings.with_standings(with_p_values(ranked), compared)
    hidden = frozenset(withheld) & oracle.tasks.keys()
    return Board(LEADERBOARD, shown, list(oracle.tasks), lines, hidden, compared, scored, oracle, hyperparameters)
