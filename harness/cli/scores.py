"""Scores of submissions on the terminal."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from harness.board.disclosure import DECIMALS, disclosure_note
from harness.board.scores import decimal, official
from harness.board.stability import describe
from harness.tables import print_lines, print_table, wide_console
from scoring import RULE, TaskScore

if TYPE_CHECKING:
    from rich.console import Console

    from harness.api.scores import Scored
    from pgdl import ScoreResult


def print_scores(found: "ScoreResult") -> None:
    """Print the scores of submissions, then their rule."""
    console = wide_console()
    for one in found.scores:
        _print_score(console, one, found.withheld)
    print_lines(console, [RULE, *([disclosure_note(found.withheld)] if found.withheld else [])])


def _print_score(console: "Console", one: "Scored", withheld: Collection[str]) -> None:
    """Print one submission's scores, one row per task."""
    rows, result = [], one.score
    for task, score in result.tasks.items():
        if isinstance(score, TaskScore):
            rows.append([task, *_figures(score, DECIMALS if task in withheld else 4)])
        else:
            rows.append([task, "-", "-", "-", "-", "", f"failed: {score}"])
    decimals = DECIMALS if withheld else 4
    total = "none" if result.score is None else f"{result.score:.{decimals}f}"
    console.print(f"{one.label}: score {total}", style="bold")
    titles = ("task", "official", "printed", "Kendall", "granulated", "models", "limiting pair")
    print_table(console, titles, rows, left=("task",), wrap=("limiting pair",))
    print_lines(console, describe(one.own_randomness) if one.own_randomness else [])


def _figures(score: TaskScore, decimals: int) -> list[str]:
    """Return the cells of one task; correlations have four decimals."""
    printed = "-" if score.printed is None else f"{100 * score.printed:.{decimals}f}"
    correlations = [decimal(number, 4) for number in (score.kendall, score.granulated_kendall)]
    pair = min(score.official_pairs, key=lambda pair: score.official_pairs[pair], default=("-",))
    return [official(score, decimals), printed, *correlations, str(score.n_models), score.undefined or " x ".join(pair)]
