"""The tables of `pgdl measures`: the list of measures, and the forecast of their costs on a task."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pgdl
from baselines import Measure, Need
from harness.cli import as_json
from harness.printing import say
from harness.submission.installed import InstalledMeasure
from harness.tables import print_lines, print_table, wide_console
from harness.text import duration

if TYPE_CHECKING:
    from harness.api.costs import CostForecast

HEADINGS = ("measure", "meaning", "cost", "needs", "source")

#: Up to this width of a terminal, the list has only the first three columns, and the cost without the work.
NARROW = 150

OF_PACKAGES = ("installed measure", "package", "meaning")

FORECAST_HEADINGS = ("measure", "a call", "all models", "memory", "cost")
KEYS = ("smallest_s", "largest_s", "all_s", "memory_bytes")  #: keys of a forecast in JSON


def print_measures(measures: Sequence[Measure], others: Sequence[InstalledMeasure]) -> None:
    """Print a row for each measure of the library, and for each measure of an installed package (`others`)."""
    console = wide_console()
    is_narrow = console.width <= NARROW
    shown = HEADINGS[:3] if is_narrow else HEADINGS
    rows, styles = list[tuple[str, ...]](), list[str | None]()
    for family, members in groupby(measures, key=lambda measure: measure.family):
        rows.append((family, *[""] * (len(shown) - 1)))
        styles.append("bold")
        for one in members:
            cells = (f"  {one.name}", one.meaning, one.cost if is_narrow else cost_of(one), needs_of(one) or "-")
            rows.append((*cells, one.source)[: len(shown)])
            styles.append(None)
    print_table(console, shown, rows, left=shown, wrap=shown[1:], styles=styles)
    if is_narrow:
        print_lines(console, ["", "pgdl measures NAME shows needs, work and source of a measure."])
    if others:
        told = [(m.name, m.origin, f"cannot be run: {m.problem}" if m.problem else m.summary) for m in others]
        console.print()
        print_table(console, OF_PACKAGES, told, left=OF_PACKAGES, wrap=("meaning",))


def cost_of(measure: Measure) -> str:
    """Return the measure's cost and, if it makes passes, its work, such as `gradients: 2 backward passes`."""
    return str(measure.cost) if measure.work == "none" else f"{measure.cost}: {measure.work}"


def needs_of(measure: Measure) -> str:
    """Return the measure's inputs other than the trained weights, in the order of `Need`."""
    return ", ".join(need for need in Need if need in measure.needs)


def show_forecast(measures: Sequence[Measure], tasks_dir: Path, task_names: Sequence[str], form: str) -> None:
    """Time passes on a task, and print the forecast for each measure, as a table or as JSON."""
    from harness.cli.terminal import Terminal  # here: only a forecast makes calls

    with Terminal(as_json.console_of(form)) as progress:
        costs = pgdl.forecast_costs(measures, tasks_dir=tasks_dir, task_names=task_names, progress=progress)
    if form == as_json.JSON:
        forecasts = [{"name": one.measure.name} | {key: getattr(one, key) for key in KEYS} for one in costs.forecasts]
        as_json.show({"task": costs.task, "timed": _timed(costs), "measures": forecasts})
    else:
        print_table(wide_console(), FORECAST_HEADINGS, [_row(one) for one in costs.forecasts], left=("measure", "cost"))
        say("", *_notes(costs))


def _row(one: "CostForecast") -> tuple[str, ...]:
    work = "" if one.measure.work == "none" else f": {one.measure.work.partition(';')[0]}"
    call = "-" if one.smallest_s is None or one.largest_s is None else _between(one.smallest_s, one.largest_s)
    every = "-" if one.all_s is None else _seconds(one.all_s)
    memory = "-" if one.memory_bytes is None else f"{one.memory_bytes / 1e9:.2f} GB"
    return one.measure.name, call, every, memory, f"{one.measure.cost}{work}"


def _notes(costs: "pgdl.Costs") -> list[str]:
    sizes = " and ".join(f"{one.model.n_parameters:,}" for one in costs.timed)
    numbers = " and ".join(f"{one.n_examples:,}" for one in costs.timed)
    return [
        f"A forecast for {costs.task} ({costs.n_examples:,} training examples), from passes of {numbers} examples "
        f"through its smallest and largest model ({sizes} parameters), with default parameters.",
        f"all models: one call at a time; a run here makes {costs.workers} at once, and measures that are called "
        "together share passes. memory: on the largest model. -: unknown.",
    ]


def _between(low: float, high: float) -> str:
    ends = [_seconds(low), _seconds(high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)


def _timed(costs: "pgdl.Costs") -> list[dict[str, Any]]:
    return [
        {"model": one.model.id, "parameters": one.model.n_parameters, "examples": one.n_examples,
         "forward_s": one.forward[1].call_wall_s, "backward_s": one.backward[1].call_wall_s}
        for one in costs.timed
    ]  # fmt: skip
