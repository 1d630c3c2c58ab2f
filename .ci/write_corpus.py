"""Prints the table of docs/fashion-mnist.md: scores of measures on recorded corpora, and on the demo tasks.

Usage: write_corpus.py SCORES RESULTS. SCORES is the output of `pgdl score --format json`, RESULTS is docs/results.csv.
"""

import csv
import itertools
import json
import statistics
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from scipy.stats import rankdata, spearmanr

import baselines


class Scores(NamedTuple):
    """The score of a measure, 0 to 100, and Kendall's coefficient, -1 to 1."""

    score: float
    kendall: float


#: Number of measures in the table, the best first.
SHOWN = 10

#: Measure -> its scores.
Column = Mapping[str, Scores]


def main(scores: Path, results: Path) -> None:
    """Print how well corpora and demo tasks agree on the order of measures, and the table of the best measures."""
    corpora, demo = read_scores(scores.read_text(encoding="utf-8")), read_results(results.read_text(encoding="utf-8"))
    everywhere = means(corpora)
    print(f"- Corpora and demo tasks: {agreement(everywhere, demo)}")
    for (name, one), (other_name, other) in itertools.combinations(corpora.items(), 2):
        print(f"- {name} and {other_name}: {agreement(one, other)}")
    columns = ["rank", "measure", "family", "score", *map(short, corpora), "Kendall", "score, demo", "Kendall, demo"]
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    ranks = rankdata([-found.score for found in everywhere.values()], "min")
    for rank, (name, found) in sorted(zip(ranks, everywhere.items(), strict=True))[:SHOWN]:
        there = demo.get(name)
        of_demo = (f"{there.score:.2f}", f"{there.kendall:.3f}") if there else ("", "")
        of_corpora = [f"{column[name].score:.2f}" for column in corpora.values()]
        cells = [f"{rank:.0f}", f"`{name}`", baselines.MEASURES[name].family, f"{found.score:.2f}", *of_corpora]
        print(f"| {' | '.join([*cells, f'{found.kendall:.3f}', *of_demo])} |")


def short(corpus: str) -> str:
    """Return the last part of a corpus' name: `vgg` for `fashion_vgg`."""
    return corpus.rpartition("_")[2]


def read_scores(text: str) -> dict[str, dict[str, Scores]]:
    """Return corpus -> measure -> scores, for measures with an official score on the corpus."""
    found: dict[str, dict[str, Scores]] = {}
    for measure in json.loads(text)["submissions"]:
        for corpus, of_corpus in measure["tasks"].items():
            column = found.setdefault(corpus, {})
            if of_corpus.get("official") is not None:
                column[measure["submission"]] = Scores(of_corpus["official"], of_corpus["kendall"])
    return found


def means(corpora: Mapping[str, Column]) -> dict[str, Scores]:
    """Return measure -> mean scores over corpora, for measures with scores on all corpora."""
    names = set.intersection(*map(set, corpora.values()))
    every = {name: [column[name] for column in corpora.values()] for name in sorted(names)}
    return {name: Scores(*map(statistics.fmean, zip(*found, strict=True))) for name, found in every.items()}


def read_results(text: str) -> dict[str, Scores]:
    """Return measure -> scores from the text of docs/results.csv. Measures on the same line have equal scores."""
    return {
        name: Scores(float(row["score"]), float(row["Kendall"]))
        for row in csv.DictReader(text.splitlines())
        if row["score"] and row["Kendall"]
        for name in row["measure"].split(", ")
    }


def agreement(here: Column, there: Column) -> str:
    """Return a sentence with Spearman's coefficients over the measures that both columns have."""
    both = [name for name in here if name in there]
    score, kendall = (
        correlation((here[name][column] for name in both), (there[name][column] for name in both)) for column in (0, 1)
    )
    return f"over {len(both)} measures, Spearman's rho is {score:.2f} for scores and {kendall:.2f} for Kendall's tau."


def correlation(here: Iterable[float], there: Iterable[float]) -> float:
    """Return Spearman's coefficient."""
    return float(spearmanr([*here], [*there]).statistic)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
