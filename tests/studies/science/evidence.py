"""Results of the commands and shipped records: values of measures, gaps, and the protocols' tables."""

import csv
import functools
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from baselines import MEASURES
from harness.format.reference import Reference, read_reference
from harness.records import EVALUATIONS, Records
from scoring import TaskCalls
from tests.studies.science.commands import FAMILIES
from tests.studies.science.settings import Setting

Vector = NDArray[np.float64]

#: Draws of a bootstrap, and its interval.
DRAWS, ENDS = 4000, (5, 95)


class Missing(Exception):
    """The evidence for a claim is missing; the message says which."""


class Evidence:
    """The files that all commands of a setting wrote, and the records of the setting's shipped corpora."""

    def __init__(self, place: Path, setting: Setting) -> None:
        self.place, self.setting = place, setting

    @functools.cache  # noqa: B019 - there are few of these in a process
    def reference(self, task: str) -> Reference:
        """Return hyperparameters and accuracies of a task."""
        shipped = self.setting.shipped
        tasks = shipped if shipped and task in self.setting.held_out else self.place / "tasks"
        return read_reference(tasks / "reference_data" / task / "model_configs.json")

    @functools.cache  # noqa: B019
    def _values(self) -> dict[tuple[str, str], dict[str, float]]:
        """Return the newest values: (task, measure) -> model -> value."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        for file in (self.place / "results.db", *self._shipped_records()):
            with Records(str(file)) as records:
                for row in records.newest_of(EVALUATIONS.c.repeat == 0):
                    if row.value is not None:
                        found.setdefault((row.task, row.submission), {})[row.model] = row.value
        return found

    def _shipped_records(self) -> Iterator[Path]:
        """Unpack the shipped records, and yield the files."""
        for packed in sorted(self.setting.shipped.glob("*.db.xz")) if self.setting.shipped else ():
            file = self.place / packed.stem
            file.write_bytes(lzma.decompress(packed.read_bytes()))
            yield file

    def measures(self, task: str) -> set[str]:
        """Return the measures of the compared families that have a value for every model of a task."""
        n_models = len(self.reference(task).models)
        names = {measure for (of, measure), values in self._values().items() if of == task and len(values) == n_models}
        return {name for name in names if MEASURES[name.partition(":")[0]].family in FAMILIES}

    def held_out(self, *measures: str) -> list[str]:
        """Return the held-out tasks on which all these measures have a value for every model.

        Raises:
            Missing: there is no such task.
        """
        tasks = [task for task in self.setting.held_out if self.measures(task).issuperset(measures)]
        if not tasks:
            raise Missing(f"no held-out corpus has values of {' and '.join(measures)}")
        return tasks

    def values(self, task: str, measure: str) -> Vector:
        """Return a measure's values in the order of the task's models."""
        values = self._values()[task, measure]
        return np.array([values[model] for model in self.reference(task).models])

    def gaps(self, task: str) -> Vector:
        """Return the gaps of a task's models, in the order of `values`."""
        return np.array(list(self.reference(task).gaps.values()))

    def calls(self, task: str, measure: str) -> TaskCalls:
        """Return grid, gaps and values of a measure on a task, as `scoring` expects them."""
        reference = self.reference(task)
        values = dict(zip(reference.models, self.values(task, measure).tolist(), strict=True))
        return TaskCalls(reference.grid, reference.gaps, values)

    def table(self, file: str) -> list[dict[str, str]]:
        """Return the rows of a protocol's CSV file."""
        return list(csv.DictReader((self.place / file).read_text().splitlines()))


def bootstrap(statistic: Callable[..., float], *columns: Vector) -> tuple[float, float]:
    """Return the 90 % bootstrap interval of a statistic of columns of shape (n,); rows are resampled."""
    random, n = np.random.default_rng(0), len(columns[0])
    draws = (random.integers(n, size=n) for _ in range(DRAWS))
    found = [statistic(*(column[rows] for column in columns)) for rows in draws]
    low, high = np.nanpercentile(found, ENDS)
    return float(low), float(high)


def correlation(first: Vector, second: Vector) -> float:
    """Return Spearman's rank correlation, or NaN if an argument is constant."""
    from scipy.stats import rankdata

    ranks = rankdata(first), rankdata(second)
    with np.errstate(invalid="ignore"):
        return float(np.corrcoef(*ranks)[0, 1])


def span(ends: tuple[float, float], digits: int = 2) -> str:
    """Return an interval as text."""
    return f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
