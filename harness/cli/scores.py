"""Scores of submissions on the terminal."""

from collections.abc import Collection

import pgdl
from harness.board.disclosure import DECIMALS, disclosure_note
from harness.board.repetitions import describe
from harness.board.scores import decimal, official
from harness.board.states import no_score
from harness.tables import print_lines, print_table, wide_console
from scoring import RULE, SubmissionScore, TaskScore


def print_scores(found: pgdl.ScoreResult) -> None:
    """Print a table of each submission's scores, with a row per task, then the rule of scoring, and the remarks."""
    console = wide_console()
    titles = ("task", "official", "printed", "Kendall", "granulated", "models", "limiting pair")
    for one in found.scores:
        console.print(found.headline(one), style="bold")
        print_table(console, titles, _rows(one.score, found.withheld), left=("task",), wrap=("limiting pair",))
        print_lines(console, describe(one.own_randomness) if one.own_randomness else [])
    disclosure = [disclosure_note(found.withheld)] if found.withheld else []
    print_lines(console, [RULE, *disclosure, *found.remarks])


def _rows(result: SubmissionScore, withheld: Collection[str]) -> list[list[str]]:
    return [
        [task, *_figures(score, DECIMALS if task in withheld else 4)]
        if isinstance(score, TaskScore)
        else [task, "-", "-", "-", "-", "", no_score(score)]
        for task, score in result.tasks.items()
    ]


def _figures(score: TaskScore, decimals: int) -> list[str]:
    printed = "-" if score.printed is None else f"{100 * score.printed:.{decimals}f}"
    correlations = [decimal(number, 4) for number in (score.kendall, score.granulated_kendall)]
    pair = min(score.official_pairs, key=lambda pair: score.official_pairs[pair], default=("-",))
    told = no_score(score.undefined) if score.undefined else " x ".join(pair)
    return [official(score, decimals), printed, *correlations, str(score.n_models), told]
