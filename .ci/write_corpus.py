"""Prints the scores of measures on a corpus beside those on the demo tasks, as the table of docs/fashion-mnist.md.

`write_corpus.py COMPARISON RESULTS`: COMPARISON is what `pgdl compare` wrote as CSV, RESULTS the page docs/results.md.
"""

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from scipy.stats import spearmanr


class Scores(NamedTuple):
    """The score of a measure, 0 to 100, and Kendall's coefficient, -1 to 1."""

    score: float
    kendall: float


def main(comparison: Path, results: Path) -> None:
    """Print the table, best measure first, and how well both orders agree."""
    with comparison.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["score"] and row["kendall"]]
    demo = read_page(results.read_text())
    print(agreement({row["measure"]: Scores(float(row["score"]), float(row["kendall"])) for row in rows}, demo))
    print("\n| rank | measure | family | score | Kendall | failed | score, demo | Kendall, demo |\n" + "|---" * 8 + "|")
    for row in rows:
        there = demo.get(row["measure"])
        figures = f"{there.score:.2f} | {there.kendall:.3f}" if there else " | "
        failed = row["failed"] if int(row["failed"]) else ""
        own = f"{float(row['score']):.2f} | {float(row['kendall']):.3f} | {failed}"
        print(f"| {row['rank']} | `{row['measure']}` | {row['family']} | {own} | {figures} |")


def read_page(text: str) -> dict[str, Scores]:
    """Return measure -> scores, from the table of docs/results.md, in which measures that are alike share a line."""
    heading, _, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]
    found = {}
    for line in lines:
        row = dict(zip(heading, line, strict=True))
        if row["score"] and row["Kendall"]:
            for name in row["measure"].split(","):
                found[name.strip(" `")] = Scores(float(row["score"]), float(row["Kendall"]))
    return found


def agreement(here: Mapping[str, Scores], there: Mapping[str, Scores]) -> str:
    """Return Spearman's coefficients over the measures of both, as a sentence."""
    both = [name for name in here if name in there]
    score, kendall = (
        correlation((here[name][column] for name in both), (there[name][column] for name in both)) for column in (0, 1)
    )
    return f"Over {len(both)} measures Spearman's coefficient is {score:.2f} for scores, {kendall:.2f} for Kendall's."


def correlation(here: Iterable[float], there: Iterable[float]) -> float:
    """Return Spearman's coefficient."""
    return float(spearmanr([*here], [*there]).statistic)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
