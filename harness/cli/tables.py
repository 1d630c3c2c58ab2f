"""Tables on the terminal."""

from collections.abc import Collection

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from harness.board.formats import cells, headings, notes, official
from harness.board.leaderboard import Board
from harness.board.rounding import DECIMALS, rounding_note
from scoring import RULE, SubmissionScore, TaskScore


def wide_console() -> Console:
    """A console that never cuts or wraps what goes into a file or a pipe."""
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = 10_000
    return console


def print_board(board: Board) -> None:
    """Print the leaderboard and the rule that makes it; names are never cut."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings(board):
        justify: JustifyMethod = "left" if heading in ("submission", "", "settings") else "right"
        table.add_column(Text(heading), justify=justify, no_wrap=True)
    for row in board.rows:
        style = None if row.kind == "submission" and row.sandboxed else "dim"
        table.add_row(*map(Text, cells(row, board)), style=style)
    console = wide_console()
    console.print(table)
    console.print()
    for note in notes(board):
        console.print(note, style="dim", markup=False, highlight=False)


def print_score(name: str, result: SubmissionScore, withheld: Collection[str]) -> None:
    """Print one submission's scores, one row per task; those of the tasks `withheld` are rounded already."""
    console = wide_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "official", "printed", "Kendall", "granulated", "models", "limiting pair"):
        table.add_column(heading, justify="left" if heading in ("task", "limiting pair") else "right")
    for task, score in result.tasks.items():
        if isinstance(score, TaskScore):
            table.add_row(*map(Text, [task, *_figures(score, DECIMALS if task in withheld else 4)]))
        else:
            table.add_row(*map(Text, [task, "-", "-", "-", "-", "", f"failed: {score}"]))
    decimals = DECIMALS if withheld else 4
    total = "none" if result.score is None else f"{result.score:.{decimals}f}"
    console.print(f"{name}: score {total}", style="bold", markup=False, highlight=False)
    console.print(table)
    console.print(RULE, style="dim", markup=False)
    if withheld:
        console.print(rounding_note(withheld), style="dim", markup=False, highlight=False)


def _figures(score: TaskScore, decimals: int) -> list[str]:
    """The cells of one task; correlations have as many digits as scores, or what is left of them by rounding."""
    printed = "-" if score.printed is None else f"{100 * score.printed:.{decimals}f}"
    correlations = [_correlation(number, decimals) for number in (score.kendall, score.granulated_kendall)]
    pair = min(score.official_pairs, key=lambda pair: score.official_pairs[pair], default=("-",))
    return [official(score, decimals), printed, *correlations, str(score.n_models), score.undefined or " x ".join(pair)]


def _correlation(number: float | None, decimals: int) -> str:
    return "-" if number is None else f"{number:.{min(decimals + 2, 4)}f}"
