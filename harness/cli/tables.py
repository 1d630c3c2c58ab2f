"""Tables on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from harness.board.formats import cells, headings, notes
from harness.board.leaderboard import Row
from scoring import RULE, SubmissionScore, TaskScore


def wide_console() -> Console:
    """A console that never cuts or wraps what goes into a file or a pipe."""
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = 10_000
    return console


def print_board(rows: Sequence[Row], tasks: Sequence[str]) -> None:
    """Print the leaderboard and the rule that makes it."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    left = (1, 2)
    for position, heading in enumerate(headings(tasks)):
        table.add_column(heading, justify="left" if position in left else "right", no_wrap=position != 1)
    for row in rows:
        style = None if row.kind == "submission" and row.sandboxed else "dim"
        table.add_row(*cells(row, tasks), style=style)
    console = wide_console()
    console.print(table)
    console.print()
    for note in notes(rows):
        console.print(note, style="dim", markup=False, highlight=False)


def print_score(name: str, result: SubmissionScore) -> None:
    """Print one submission's scores, one row per task."""
    console = wide_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "official", "printed", "Kendall", "granulated", "models", "limiting pair"):
        table.add_column(heading, justify="left" if heading in ("task", "limiting pair") else "right")
    for task, score in result.tasks.items():
        if isinstance(score, TaskScore):
            pair = min(score.official_pairs, key=lambda pair: score.official_pairs[pair])
            numbers = (100 * score.official, 100 * score.printed, score.kendall, score.granulated_kendall)
            table.add_row(task, *(f"{number:.4f}" for number in numbers), str(score.n_models), " x ".join(pair))
        else:
            table.add_row(task, "-", "-", "-", "-", "", f"failed: {score}")
    total = "none" if result.score is None else f"{result.score:.4f}"
    console.print(f"{name}: score {total}", style="bold", markup=False, highlight=False)
    console.print(table)
    console.print(RULE, style="dim", markup=False)
