"""`pgdl measures --cost`: forecasts the cost of measures on a task from timed passes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli import as_json
from harness.printing import say
from harness.text import duration

if TYPE_CHECKING:
    from baselines import Measure
    from harness.api.costs import CostForecast, Costs

HEADINGS = ("measure", "a call", "all models", "memory", "cost")
KEYS = ("smallest_s", "largest_s", "all_s", "memory_bytes")  #: of a forecast in JSON


def show_forecast(measures: Sequence["Measure"], tasks_dir: Path, task_names: Sequence[str], form: str) -> None:
    """Time passes on a task, and print the forecast for each measure, as a table or as JSON."""
    import pgdl
    from harness.cli.terminal import Terminal
    from harness.tables import print_table, wide_console

    with Terminal(as_json.console_of(form)) as progress:
        costs = pgdl.forecast_costs(measures, tasks_dir=tasks_dir, task_names=task_names, progress=progress)
    if form == as_json.JSON:
        forecasts = [{"name": one.measure.name} | {key: getattr(one, key) for key in KEYS} for one in costs.forecasts]
        as_json.show({"task": costs.task, "timed": _timed(costs), "measures": forecasts})
    else:
        print_table(wide_console(), HEADINGS, [_row(one) for one in costs.forecasts], left=("measure", "cost"))
        say("", *_notes(costs))


def _row(one: "CostForecast") -> tuple[str, ...]:
    work = "" if one.measure.work == "none" else f": {one.measure.work.partition(';')[0]}"
    call = "-" if one.smallest_s is None or one.largest_s is None else _between(one.smallest_s, one.largest_s)
    every = "-" if one.all_s is None else _seconds(one.all_s)
    memory = "-" if one.memory_bytes is None else f"{one.memory_bytes / 1e9:.2f} GB"
    return one.measure.name, call, every, memory, f"{one.measure.cost}{work}"


def _notes(costs: "Costs") -> list[str]:
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


def _timed(costs: "Costs") -> list[dict[str, Any]]:
    return [
        {
            "model": one.model.id,
            "parameters": one.model.n_parameters,
            "examples": one.n_examples,
            "forward_s": one.forward[1].call_wall_s,
            "backward_s": one.backward[1].call_wall_s,
        }
        for one in costs.timed
    ]
