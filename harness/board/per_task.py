"""A board with a line per row and task, for tables that programs read."""

from collections.abc import Callable, Mapping
from typing import Any

from harness.board.board import Board
from harness.board.row import OnTask, Row, counted
from harness.board.scores import percent

#: Columns of a task: name -> type of the values, and a function that returns them. Scores are 0 to 100, correlations
#: -1 to 1.
FIGURES: Mapping[str, tuple[type, Callable[[OnTask], Any]]] = {
    "score": (float, lambda task: task.official),
    "printed": (float, lambda task: None if task.score is None else percent(task.score.printed)),
    "kendall": (float, lambda task: task.kendall),
    "granulated_kendall": (float, lambda task: None if task.score is None else task.score.granulated_kendall),
    "seconds_per_model": (float, lambda task: task.seconds_per_model),
    "models": (int, lambda task: task.n_models),
    "failed": (int, lambda task: task.failures.total()),
    "outcomes": (str, lambda task: counted(task.failures)),
    "reason": (str, lambda task: task.reason),
}


def lines(board: Board, row: Row) -> list[dict[str, Any]]:
    """Return a row's lines, one per task: the row's identity, the task, and the columns `whole` and `per_task`."""
    identity = {column.key: column.value(row) for column in board.identity}
    whole = {name: value(row) for name, (_, value) in board.whole.items()}
    return [
        identity | {"task": name} | whole | {figure: FIGURES[figure][1](row.tasks[name]) for figure in board.per_task}
        for name in board.tasks
    ]
