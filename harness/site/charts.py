"""The scatter plots of a site: measure against gap, gap against hyperparameter, and score against time."""

from collections.abc import Sequence
from math import ceil, floor, log10

import numpy as np
from scipy.stats import rankdata

from harness.board.on_task import OnTask
from harness.board.row import Row
from harness.format.reference import Reference
from harness.site.axis import Axis, RankAxis
from harness.site.drawing import Dot, Drawing, View
from scoring import Failure, Grid

#: Room around the dots of a plot, as a share of their range.
MARGIN = 0.04


def scatter(task: OnTask, first: str = "") -> Drawing | None:
    """Return a plot of measure against gap, a dot per model with a value; None for a hidden task or without values.

    The page first shows ranks on both axes: scores depend on order alone, and a few huge values would leave no room for
    the others. The dots' colours show the hyperparameter `first` until a reader chooses another.
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
    gaps = [task.scored.gap[grid.models[number]] for number in measured]
    ranks = list(zip(rankdata(gaps).tolist(), rankdata(list(measured.values())).tolist(), strict=True))
    names = [name for name in sorted(grid.names, key=lambda name: name != first) if name in grid.varying]
    dots = [
        Dot(
            f"{grid.models[number]}: gap {gap:.4f}, rank {x:g} of {len(ranks)}; value {value:.6g}, rank {y:g}"
            f"{described(grid, number, names)}",
            [int(grid.codes[number, grid.names.index(name)]) for name in names],
        )
        for (number, value), gap, (x, y) in zip(measured.items(), gaps, ranks, strict=True)
    ]  # fmt: skip
    order = RankAxis(0, len(ranks) + 1)
    views = {
        "ranks": View(order, order, "rank of the gap (1: smallest)", "rank of the measure (1: smallest)", ranks),
        "values": View(
            _around(gaps), _around(list(measured.values())), "generalization gap", "value of the measure",
            list(zip(gaps, measured.values(), strict=True)),
        ),
    }  # fmt: skip
    return Drawing("scatter", dots, views, {name: [str(value) for value in grid.values[name]] for name in names})


def described(grid: Grid, number: int, names: Sequence[str]) -> str:
    """Return a text such as `; depth 2; width 8`: hyperparameters `names` of the model at position `number`."""
    return "".join(f"; {name} {grid.values[name][grid.codes[number, grid.names.index(name)]]}" for name in names)


def gaps_by_hyperparameter(reference: Reference) -> dict[str, Drawing]:
    """Return a plot of gap against hyperparameter, with a dot per model, for each hyperparameter that varies."""
    grid = reference.grid
    gaps = [reference.gaps[model] for model in grid.models]
    found = {}
    for name in grid.varying:
        codes = grid.codes[:, grid.names.index(name)]
        beside = [np.count_nonzero(codes[:number] == code) % 7 - 3 for number, code in enumerate(codes)]
        points = [(code + 0.05 * step, gap) for code, step, gap in zip(codes.tolist(), beside, gaps, strict=True)]
        labels = [(float(place), str(value)) for place, value in enumerate(grid.values[name])]
        view = View(Axis(-0.5, len(labels) - 0.5), _around(gaps), name, "generalization gap", points, labels)
        texts = [f"{model}: gap {gap:.4f}" for model, gap in zip(grid.models, gaps, strict=True)]
        found[name] = Drawing("gaps", [Dot(text, [0]) for text in texts], {"gaps": view})
    return found


def score_against_time(rows: Sequence[Row], on_front: Sequence[bool], pages: Sequence[str]) -> Drawing | None:
    """Return a plot of score against seconds per model, with a dot for each row that has both; None without dots."""
    kinds = sorted({row.kind for row in rows}, reverse=True)
    dots, points, highest = [], [], 1.0
    for row, page, is_ringed in zip(rows, pages, on_front, strict=True):
        if row.seconds_per_model and row.score is not None:
            text = f"{row.label}: {row.seconds_per_model:.3g} s per model, score {row.score:.2f}"
            interval = (row.standing.low, row.standing.high) if row.standing else None
            dots.append(Dot(text, [kinds.index(row.kind)], page, row.label, interval, is_ringed))
            points.append((log10(row.seconds_per_model), row.score))
            highest = max(highest, interval[1] if interval else row.score)
    if not dots:
        return None
    low, high = min(x for x, _ in points) - 0.2, max(x for x, _ in points) + 0.2
    ticks = [(log10(tick), f"{tick:g}") for tick in _log_ticks(low, high)]
    scores = Axis(0, (1 + MARGIN) * highest)
    view = View(Axis(low, high), scores, "seconds per model (logarithmic)", "score", points, ticks)
    return Drawing("time", dots, {"time": view}, {"": kinds} if len(kinds) > 1 else {})


def _around(numbers: Sequence[float]) -> Axis:
    low, high = min(numbers), max(numbers)
    room = MARGIN * high - MARGIN * low or abs(high) or 1.0
    return Axis(low - room, high + room)


def _log_ticks(low: float, high: float) -> list[float]:
    """Return the powers of ten from 10**low to 10**high. For at most two decades, add 2 and 5 times these powers."""
    powers = [10.0**power for power in range(floor(low), ceil(high) + 1)]
    every = powers if high - low > 2 else [digit * power for power in powers for digit in (1, 2, 5)]
    return [tick for tick in every if 10**low <= tick <= 10**high]
