"""The data of the plots, which assets/plots.js and assets/time.js draw with Plotly."""

from collections.abc import Sequence
from typing import Any

from scipy.stats import rankdata

from harness.board.on_task import OnTask
from harness.board.row import Row
from harness.format.reference import Reference
from scoring import Failure

Chart = dict[str, Any]


def scatter(task: OnTask) -> Chart | None:
    """Return measure against gap, one dot per model with a value; None if the task is withheld or has no value.

    Both are values and ranks: few huge values leave no room for the others on an axis, and no score depends on more
    than their order.
    """
    if task.scored is None:
        return None
    grid, values = task.scored.grid, task.scored.values
    measured = {
        number: value for number, model in enumerate(grid.models)
        if not isinstance(value := values.get(model), Failure | None)
    }  # fmt: skip
    if not measured:
        return None
    models = [grid.models[number] for number in measured]
    by = {
        name: [str(grid.values[name][grid.codes[number, column]]) for number in measured]
        for column, name in enumerate(grid.names)
        if name in grid.varying
    }
    return {
        "kind": "scatter", "models": models, "by": by,
        "gap": _ranked([task.scored.gap[model] for model in models]),
        "measure": _ranked(list(measured.values())),
    }  # fmt: skip


def _ranked(values: Sequence[float]) -> dict[str, list[float]]:
    """Return the values and their ranks from 1; equal values share their mean rank."""
    return {"value": list(values), "rank": rankdata(values).tolist()}


def heat_map(task: OnTask) -> Chart | None:
    """Return the conditional mutual information for every pair of hyperparameters; None if there is none."""
    if task.score is None or not task.score.official_pairs:
        return None
    pairs = task.score.official_pairs
    names = sorted({name for pair in pairs for name in pair})
    both = {key: 100 * value for (a, b), value in pairs.items() for key in ((a, b), (b, a))}
    return {"kind": "heatmap", "names": names, "points": [[both.get((a, b)) for b in names] for a in names]}


def gap_histogram(reference: Reference) -> Chart:
    """Return the gaps of a task's models."""
    return {"kind": "histogram", "gap": list(reference.gaps.values())}


def score_against_time(rows: Sequence[Row], on_front: Sequence[bool], pages: Sequence[str]) -> Chart | None:
    """Return score and seconds per model of the rows that have both, on a logarithmic axis; None if there are none."""
    points = [
        {
            "name": row.label, "kind": row.kind, "seconds": row.seconds_per_model, "score": row.score,
            "low": row.standing.low if row.standing else None, "high": row.standing.high if row.standing else None,
            "front": front, "page": pages[number],
        }
        for number, (row, front) in enumerate(zip(rows, on_front, strict=True))
        if row.seconds_per_model and row.score is not None
    ]  # fmt: skip
    return {"kind": "time", "points": points} if points else None
