"""Describes a task for users and programs: sizes, architectures, gaps by hyperparameter."""

import math
import os
import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.architecture import read_architecture
from harness.format.reference import Reference, read_reference
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory, TaskFiles
from harness.text import counted
from scoring import Value

#: Up to this number of models, `describe_networks` reads the architectures.
MOST_DESCRIBED = 1000


@dataclass(frozen=True)
class GapSpread:
    """The distribution of some models' generalization gaps."""

    minimum: float
    mean: float
    median: float
    maximum: float


@dataclass(frozen=True)
class GapsOfValue:
    """The gaps of all models with the same value of a hyperparameter."""

    hyperparameter: str
    value: Value
    models: int
    gaps: GapSpread | None  #: None if no model has the value


@dataclass(frozen=True)
class Summary:
    """The description of a task; for a withheld task, some fields are None."""

    task: str
    layout: str
    hidden: bool
    withheld: bool
    models: int
    hyperparameters: tuple[str, ...] | None  #: names; None for a withheld task, or without reference data
    gaps: GapSpread | None  #: None for a withheld task, or without reference data
    bytes: int | None  #: size of all files in the task's directory; None for a withheld task


@dataclass(frozen=True)
class Architectures:
    """The architectures of a task's models."""

    number: int  #: number of different architectures
    fewest_layers: int
    most_layers: int
    kinds: tuple[str, ...]  #: Keras' names of all kinds of layers
    outputs: tuple[str, ...]  #: kinds of outputs: logits, probabilities, ...


def list_tasks(tasks_dir: str | Path = DEFAULT_DIRECTORY, withhold: str = Withhold.AUTO.value) -> list[Summary]:
    """Return a summary of each task in a directory; `withhold` (auto, always, never) says which tasks are withheld."""
    return [summarise(files, Withhold(withhold)) for files in TaskDirectory(Path(tasks_dir)).all()]


def summarise(files: TaskFiles, withhold: Withhold) -> Summary:
    """Return the description of a task; raises `UserError` if its reference data are invalid."""
    withheld = withhold.covers(files.hidden)
    with withhold.reading(files):
        reference = read_reference(files.reference) if files.reference else None
    gaps = list(reference.gaps.values()) if reference else []
    return Summary(
        task=files.name,
        layout=files.layout,
        hidden=files.hidden,
        withheld=withheld,
        models=len(gaps) if files.reference_only else len(files.models),
        hyperparameters=reference.grid.names if reference and not withheld else None,
        gaps=spread(gaps) if gaps and not withheld else None,
        bytes=None if withheld else _size(files.directory),
    )


def _size(directory: Path) -> int:
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):  # a link that leads nowhere
                total += Path(root, name).stat().st_size
    return total


def gaps_by_value(reference: Reference) -> list[GapsOfValue]:
    """Return the distribution of gaps for each value of each hyperparameter, in the order of the grid."""
    grid, gaps = reference.grid, list(reference.gaps.values())
    found = []
    for column, name in enumerate(grid.names):
        for code, value in enumerate(grid.values[name]):
            chosen = [gap for gap, codes in zip(gaps, grid.codes, strict=True) if codes[column] == code]
            found.append(GapsOfValue(name, value, len(chosen), spread(chosen) if chosen else None))
    return found


#: Headings of the columns that `gap_cells` fills.
GAP_COLUMNS = ("min gap", "mean", "median", "max")


def gap_cells(gaps: Mapping[str, float] | None) -> tuple[str, ...]:
    """Return minimum, mean, median and maximum of `gaps`, a `GapSpread` as a JSON object; dashes for None."""
    names = ("minimum", "mean", "median", "maximum")
    return tuple("-" if gaps is None else f"{gaps[name]:.4f}" for name in names)


def gap_rows(gaps: Mapping[str, float], by_value: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return rows with hyperparameter, value, number of models, and their gaps. The first row is for all models.

    `gaps` is a `GapSpread`, and `by_value` are `GapsOfValue`, all as JSON objects.
    """
    first = by_value[0]["hyperparameter"]
    number = sum(one["models"] for one in by_value if one["hyperparameter"] == first)
    rows, last = [("(all)", "", number, *gap_cells(gaps))], ""
    for one in by_value:
        name = one["hyperparameter"]
        rows.append((name if name != last else "", one["value"], one["models"], *gap_cells(one["gaps"])))
        last = name
    return rows


def architectures(files: TaskFiles) -> Architectures:
    """Return the description of a task's architectures; raises `UserError` for an invalid config.json."""
    read = [read_architecture(model) for model in files.models]
    depths = [len(architecture.canonical["layers"]) for architecture in read]
    layers = [layer for architecture in read for layer in architecture.canonical["layers"]]
    kinds = {layer["class_name"] for layer in layers if "class_name" in layer}  # entries without it call a layer again
    number = len({architecture.digest for architecture in read})
    outputs = {str(architecture.output) for architecture in read}
    return Architectures(number, min(depths), max(depths), tuple(sorted(kinds)), tuple(sorted(outputs)))


def describe_networks(files: TaskFiles) -> str:
    """Return a line about a task's networks, such as `2 architectures of 5 to 7 layers: Conv2D, Dense`.

    The line is empty without models, with more than `MOST_DESCRIBED` models, or if an architecture cannot be read.
    """
    if not 0 < len(files.models) <= MOST_DESCRIBED:
        return ""
    try:
        found = architectures(files)
    except UserError:  # `pgdl task validate` explains the error
        return ""
    few, most = found.fewest_layers, found.most_layers
    layers = f"{few} layers" if few == most else f"{few} to {most} layers"
    return f"{counted(found.number, 'architecture')} of {layers}: {', '.join(found.kinds)}"


def spread(gaps: Sequence[float]) -> GapSpread:
    """Return the distribution of `gaps`, which must not be empty."""
    return GapSpread(min(gaps), statistics.mean(gaps), statistics.median(gaps), max(gaps))


@dataclass(frozen=True)
class GapError:
    """How much gaps would change if other test examples had been drawn."""

    n_test: int  #: number of test examples
    standard_error: float  #: standard error of a gap: root mean square over models
    share: float | None  #: fraction of the gaps' variance that the error explains, 0 to 1; None if all gaps are equal


def gap_error(n_test: int, reference: Reference) -> GapError:
    """Return the standard error of a task's gaps, if each test accuracy is binomial with `n_test` examples."""
    variance = statistics.mean(accuracy * (1 - accuracy) / n_test for accuracy in reference.test_accuracy.values())
    of_gaps = statistics.pvariance(reference.gaps.values())
    return GapError(n_test, math.sqrt(variance), min(variance / of_gaps, 1.0) if of_gaps else None)
