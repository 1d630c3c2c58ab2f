"""Writes docs/results.md and docs/results.csv: all measures on the shipped tasks, from the records of `make pictures`.

- `write_results.py seeds SEED` prints the measures that draw random numbers, with this seed, as the argument of
  `pgdl compare --measures`.
- `write_results.py page TASKS COMPARISON RECORDS CORPORA TABLE` prints the page, and writes the table of all measures
  to TABLE as CSV. COMPARISON is the CSV of `pgdl compare`, RECORDS the output of `pgdl results --format csv` for all
  runs, and CORPORA the output of `pgdl score --format json` for the recorded corpora of real images.
"""

import csv
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from write_corpus import Column, Scores, agreement, means, read_scores

import baselines
from harness.board.yardsticks import Yardstick, score_yardsticks
from harness.format.reference import read_reference
from harness.task.layout import TaskDirectory
from scoring import ORACLE_DRAWS, ORACLE_NOISE

#: The parameter of measures that draw random numbers.
SEED = "seed"

#: Number of lines in the page's table, before the line of `random`.
BEST = 12

#: Measure -> task -> model -> value.
Values = dict[str, dict[str, dict[str, float]]]

HEAD = """\
# Measures on the demo tasks

Which measure of the [library](measures.md) is a good start, or a good rival?

```sh
pgdl compare --measures all --tasks task_data      # such a table for any tasks, also as CSV, LaTeX, parquet and a plot
make pictures                                      # writes this page, and results.csv
```

The table shows the best measures, and `random`. [results.csv](results.csv) has all {measures} measures, which were
called on {models} models ({calls:,} calls). Measures without a value for some models: {failed}.

**Read it with care.** Each task has only 32 small networks on 8 x 8 images, and their gaps have a standard error of
about 0.007 ([task_data](../task_data/README.md)), so differences of a few points mean nothing. {oracle}

- *score* and *Kendall* are means over the three tasks ([their meaning](statistics.md)). The last three columns show the
  score on each task. Measures that share a row rank the models of every task alike.
- *own* says how much a measure's ranking depends on its seed: the variance of a model's rank over seeds, in percent of
  the variance over models and seeds, on digits_nin. The cell is empty if a measure has no seed.
- *real images* are means over {corpora} corpora of small networks on [Fashion-MNIST](fashion-mnist.md). The cells are
  empty if the measure was not called on these corpora, or refuses a network.

Do the demo tasks rank the measures as the real images do? In part:
{agreement}

![Scores by family, with the names of the five best measures in each, the noisy oracle and chance](comparison.svg)
"""

FOOT = """
## How much depends on one answer

Values repeat to the last bit on one machine. Another processor rounds differently: if two logits are nearly equal, the
network may answer with another class. On a task of 32 models, one such answer can move a score by a point.
"""


def main(arguments: Sequence[str]) -> None:
    """For `seeds`, print the measures that draw random numbers; otherwise write results.csv, and print results.md."""
    if arguments[0] == "seeds":
        print(",".join(f"{name}:{SEED}={arguments[1]}" for name, one in baselines.MEASURES.items() if draws(one)))
    else:
        paths = TaskDirectory(Path(arguments[1])).references()
        oracle = score_yardsticks({name: read_reference(path) for name, path in paths.items()}, paths).oracle
        comparison, records = (read(Path(path)) for path in arguments[2:4])
        corpora = read_scores(Path(arguments[4]).read_text(encoding="utf-8"))
        lines = table_of(comparison, values_of(records), means(corpora))
        plain = ([cell.replace("`", "") for cell in cells] for cells in lines)
        with Path(arguments[5]).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(plain)
        print(page(comparison, lines, oracle, corpora), end="")


def draws(measure: baselines.Measure) -> bool:
    """Whether a measure has a seed."""
    return SEED in measure.parameters


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    csv.field_size_limit(2**24)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table_of(comparison: list[dict[str, str]], values: Values, there: Column) -> list[list[str]]:
    """Return the headings, then the cells of each measure in `comparison`; `there` has the scores on real images."""
    tasks = tasks_of(comparison)
    columns = ["rank", "measure", "score", "Kendall", "real images: score", "real images: Kendall", "family", "own"]
    columns += [task.removeprefix("digits_") for task in tasks]
    called = [row for row in comparison if row["measure"] in values]
    return [columns, *(line(rows, tasks, values, there) for rows in alike(called, tasks, values))]


def tasks_of(comparison: list[dict[str, str]]) -> list[str]:
    """Return the names of the tasks in a comparison."""
    return [name.partition(":")[2] for name in comparison[0] if name.startswith("score:")]


def page(
    comparison: list[dict[str, str]],
    lines: list[list[str]],
    oracle: Yardstick,
    corpora: Mapping[str, Mapping[str, Scores]],
) -> str:
    """Return the text of docs/results.md; `comparison` has the measures, best first, and `lines` the table's cells."""
    here = {row["measure"]: Scores(float(row["score"]), float(row["kendall"])) for row in comparison if row["kendall"]}
    columns, *rows = lines
    names = {name.strip("`") for cells in rows for name in cells[1].split(", ")}
    called = [row for row in comparison if row["measure"] in names]
    calls = [int(row["models"]) for row in called]
    failed = ", ".join(f"`{row['measure']}` ({row['failed']})" for row in called if int(row["failed"])) or "none"
    head = HEAD.format(
        measures=len(called), models=max(calls), calls=sum(calls), failed=failed,
        oracle=of_oracle(oracle, tasks_of(comparison)), corpora=len(corpora), agreement=agreement(here, means(corpora)),
    )  # fmt: skip
    shown = [*rows[:BEST], *(cells for cells in rows[BEST:] if cells[1] == "`random`")]
    return "\n".join([head, row_of(columns), "|---" * len(columns) + "|", *map(row_of, shown), FOOT])


def row_of(cells: Sequence[str]) -> str:
    """Return cells as a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def of_oracle(oracle: Yardstick, tasks: Sequence[str]) -> str:
    """Return a sentence with the scores of the noisy oracle, a measure that returns the gaps plus noise."""
    found = [spread.text() for spread in (oracle.score, *(oracle.tasks[task] for task in tasks)) if spread]
    return (
        f"A measure that\nreturns the gaps themselves, with noise of {ORACLE_NOISE}, would score only {found[0]} "
        f"({', '.join(found[1:])} on the\ntasks): mean and standard deviation of {ORACLE_DRAWS} draws."
    )


def values_of(records: Iterable[dict[str, str]]) -> Values:
    """Return the recorded values: measure with parameters -> task -> model -> value."""
    values: Values = {}
    for row in records:
        if row["value"]:
            values.setdefault(row["submission"], {}).setdefault(row["task"], {})[row["model"]] = float(row["value"])
    return values


def alike(rows: Iterable[dict[str, str]], tasks: Sequence[str], values: Values) -> list[list[dict[str, str]]]:
    """Group the rows whose measures rank the models of every task alike; a group has the place of its first row."""
    groups: dict[tuple[object, ...], list[dict[str, str]]] = {}
    for row in rows:
        of_measure = values[row["measure"]]
        models = [sorted(of_measure.get(task, {})) for task in tasks]
        ranks = [
            rankdata([of_measure[task][name] for name in names])
            for task, names in zip(tasks, models, strict=True)
            if names
        ]
        key = (row["score"], *map(tuple, models), *(tuple(of_task.tolist()) for of_task in ranks))
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def line(rows: Sequence[dict[str, str]], tasks: Sequence[str], values: Values, there: Column) -> list[str]:
    """Return the cells of a table's line for a group of rows from `alike`; `there` has the scores on real images."""
    first = rows[0]
    return [
        first["rank"],
        ", ".join(f"`{row['measure']}`" for row in rows),
        figure(first["score"], 2),
        figure(first["kendall"], 3),
        *elsewhere([there[row["measure"]] for row in rows if row["measure"] in there]),
        ", ".join(dict.fromkeys(row["family"] for row in rows)),
        own_share(first["measure"], tasks, values),
        *(figure(first[f"score:{task}"], 2) for task in tasks),
    ]


def elsewhere(found: Sequence[Scores]) -> tuple[str, str]:
    """Return a cell with scores and a cell with Kendall coefficients, from a group's results on real images."""
    scores, coefficients = (f"{one.score:.2f}" for one in found), (f"{one.kendall:.3f}" for one in found)
    return ", ".join(dict.fromkeys(scores)), ", ".join(dict.fromkeys(coefficients))


def figure(text: str, digits: int) -> str:
    """Return a number with `digits` decimals; empty text stays empty."""
    return f"{float(text):.{digits}f}" if text else ""


def own_share(measure: str, tasks: Sequence[str], values: Values) -> str:
    """Return in percent how much of the ranks' variance is due to the seed, mean over tasks; empty for one seed."""
    runs = [of_run for name, of_run in values.items() if name == measure or name.startswith(f"{measure}:{SEED}=")]
    shares = []
    for task in tasks:
        models = sorted(set.intersection(*(set(of_run.get(task, {})) for of_run in runs)))
        if len(runs) > 1 and models:
            ranks = np.array([rankdata([of_run[task][model] for model in models]) for of_run in runs])
            total = ranks.var(axis=1).mean()
            shares.append(min(ranks.var(axis=0, ddof=1).mean() / total, 1.0) if total else 0.0)
    return f"{100 * statistics.fmean(shares):.0f}" if shares else ""


if __name__ == "__main__":
    main(sys.argv[1:])
