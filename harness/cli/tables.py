"""Tables on the terminal."""

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table

from harness.board.formats import cells, headings, notes
from harness.board.leaderboard import Row
from harness.board.rounding import DECIMALS, rounding_note
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


def print_score(name: str, result: SubmissionScore, withheld: Collection[str]) -> None:
    """Print one submission's scores, one row per task; those of the tasks `withheld` are rounded already."""
    console = wide_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "official", "printed", "Kendall", "granulated", "models", "limiting pair"):
        table.add_column(heading, justify="left" if heading in ("task", "limiting pair") else "right")
    for task, score in result.tasks.items():
        if isinstance(score, TaskScore):
            table.add_row(task, *_figures(score, DECIMALS if task in withheld else 4))
        else:
            table.add_row(task, "-", "-", "-", "-", "", f"failed: {score}")
    decimals = DECIMALS if withheld else 4
    total = "none" if result.score is None else f"{result.score:.{decimals}f}"
    console.print(f"{name}: score {total}", style="bold", markup=False, highlight=False)
    console.print(table)
    console.print(RULE, style="dim", markup=False)
    if withheld:
        console.print(rounding_note(withheld), style="dim", markup=False, highlight=False)


def _figures(score: TaskScore, decimals: int) -> list[str]:
    """The cells of one task; correlations have as many digits as scores, or what is left of them by rounding."""
    scores = [f"{100 * score.official:.{decimals}f}", f"{100 * score.printed:.{decimals}f}"]
    correlations = [f"{number:.{min(decimals + 2, 4)}f}" for number in (score.kendall, score.granulated_kendall)]
    pair = min(score.official_pairs, key=lambda pair: score.official_pairs[pair], default=("-",))
    return [*scores, *correlations, str(score.n_models), " x ".join(pair)]
