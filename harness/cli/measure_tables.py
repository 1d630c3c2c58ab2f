"""What `pgdl measures` prints: the list of measures, the page of a measure, and forecasts of costs on a task."""

import inspect
import re
import sys
import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pgdl
from baselines import MEASURES, Cost, Measure, Need
from baselines.core import parameters
from harness import __version__
from harness.cli import as_json
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import CHEAP
from harness.printing import say
from harness.submission import installed
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

#: Attributes of a measure that are texts.
TEXTS = (
    "name", "family", "meaning", "formula", "range", "weights", "draws", "order", "refused", "cost", "work", "source",
)  # fmt: skip

WIDTH = 116  #: width of the explanations of parameters, in characters, as in docstrings

AnyMeasure = Measure | InstalledMeasure  #: a measure of the library, or of another installed package


def named(name: str, family: str | None, cost: str | None) -> AnyMeasure:
    """Return the measure `name`. Raise `UserError` for an unknown name, or if a family or cost is given, too."""
    known = {measure.name: measure for measure in installed.installed_measures()} | MEASURES
    plain, has_parameters, _ = name.partition(":")
    if has_parameters and plain in known:
        raise UserError("parameters are not taken here", file=name, expected=f"{plain} alone, which means its defaults")
    if name not in known:
        remedy = did_you_mean(plain, known) or "pgdl measures lists them"
        raise UserError("no such measure", file=plain, remedy=remedy)
    for option, value in (("--family", family), ("--cost", cost)):
        if value is not None:
            raise UserError(f"{option} {value}", expected="without the name of a measure", found=name)
    return known[name]


def filtered(family: str | None, cost: str | None) -> list[AnyMeasure]:
    """Return the library's measures of a family and a cost (None: all). Raise `UserError` if there are none."""
    known = {"family": dict.fromkeys(measure.family for measure in MEASURES.values()), "cost": [*Cost, CHEAP]}
    for kind, value in (("family", family), ("cost", cost)):
        if value is not None and value not in known[kind]:
            remedy = did_you_mean(value, known[kind]) or f"there are {', '.join(known[kind])}"
            raise UserError(f"no such {kind}", file=value, remedy=remedy)
    of_family = [one for one in MEASURES.values() if family in (None, one.family)]
    chosen = [one for one in of_family if cost in (None, one.cost) or (cost == CHEAP and one.is_cheap)]
    if not chosen:
        raise UserError(f"no measure of the family {family} has the cost {cost}")
    return [*chosen]


def print_measures(measures: Sequence[AnyMeasure]) -> None:
    """Print a row for each measure of the library, then a row for each measure of an installed package."""
    console = wide_console()
    others = [one for one in measures if isinstance(one, InstalledMeasure)]
    is_narrow = console.width <= NARROW
    shown = HEADINGS[:3] if is_narrow else HEADINGS
    rows, styles = list[tuple[str, ...]](), list[str | None]()
    of_library = (one for one in measures if isinstance(one, Measure))
    for family, members in groupby(of_library, key=lambda measure: measure.family):
        rows.append((family, *[""] * (len(shown) - 1)))
        styles.append("bold")
        for one in members:
            cost, needs = one.cost if is_narrow else _cost_of(one), ", ".join(_needs_of(one)) or "-"
            rows.append((f"  {one.name}", one.meaning, cost, needs, one.source)[: len(shown)])
            styles.append(None)
    print_table(console, shown, rows, left=shown, wrap=shown[1:], styles=styles)
    if is_narrow:
        print_lines(console, ["", "pgdl measures NAME shows needs, work and source of a measure."])
    if others:
        told = [(m.name, m.origin, f"cannot be run: {m.problem}" if m.problem else m.summary) for m in others]
        console.print()
        print_table(console, OF_PACKAGES, told, left=OF_PACKAGES, wrap=("meaning",))


def _cost_of(measure: Measure) -> str:
    """Return the measure's cost and, if it makes passes, its work, such as `gradients: 2 backward passes`."""
    return str(measure.cost) if measure.work == "none" else f"{measure.cost}: {measure.work}"


def _needs_of(measure: Measure) -> list[str]:
    """Return the measure's inputs other than the trained weights, in the order of `Need`."""
    return [need for need in Need if need in measure.needs]


def show_forecast(measures: Sequence[AnyMeasure], tasks_dir: Path, task_names: Sequence[str], form: str) -> None:
    """Make timed passes on a task; print each measure's forecast as a table or as JSON."""
    from harness.cli.terminal import Terminal  # here: only a forecast makes calls

    known = []
    for one in measures:
        if isinstance(one, InstalledMeasure):
            expected, found = "a measure of the library", f"a measure of {one.origin}"
            raise UserError("its cost is not known", file=one.name, expected=expected, found=found)
        known.append(one)
    with Terminal(as_json.console_of(form)) as progress:
        costs = pgdl.forecast_costs(known, tasks_dir=tasks_dir, task_names=task_names, progress=progress)
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


def explain(measure: AnyMeasure) -> None:
    """Print the page of a measure."""
    known = as_object(measure)
    facts = {
        "family": known["family"],
        "formula": known["formula"],
        "range": known["range"],
        "parameters": ", ".join(f"{name}={default}" for name, default in known["parameters"].items()),
        "needs": ", ".join(known["needs"]),
        "weights": known["weights"],
        "cost": _cost_of(measure) if isinstance(measure, Measure) else None,
        "draws": known["draws"],
        "order": known["order"] and f"that of {known['order']}, for all networks",
        "refused if": known["refused"],
        "source": known["source"],
        "origin": known["origin"],
    }
    lines = [f"  {label:<12}{text or 'none'}" for label, text in facts.items() if text is not None]
    say(measure.name, bold=True, nl=False)
    say(f": {known['meaning']}", "", *lines, "", *(known["explanation"].splitlines() or [""]))


def as_object(measure: AnyMeasure) -> dict[str, Any]:
    """Return a measure as a JSON object. A field is None if the measure's package does not state it."""
    if isinstance(measure, Measure):
        of_library = {
            "parameters": measure.parameters, "needs": _needs_of(measure),
            "origin": f"pgdl-harness {__version__}", "explanation": explanation(measure),
        }  # fmt: skip
        return {key: getattr(measure, key) or None for key in TEXTS} | of_library
    told = {"name": measure.name, "meaning": measure.summary, "source": measure.value, "origin": measure.origin}
    more = f"Cannot be run: {measure.problem}." if measure.problem else ""
    return dict.fromkeys(TEXTS) | told | {"parameters": {}, "needs": [], "explanation": more}


def explanation(measure: Measure) -> str:
    """Return a measure's docstring without its first two paragraphs, and with every parameter in the section Args."""
    own, module = inspect.getdoc(measure.function) or "", sys.modules[measure.function.__module__]
    sources = [own, *(inspect.getdoc(one) or "" for one in (module, parameters))]
    entries = [next(filter(None, (_entry(name, source) for source in sources)), "") for name in measure.parameters]
    _, _, *others = own.split("\n\n")
    first = next((place for place, one in enumerate(others) if one.startswith(("Args:", "Raises:"))), len(others))
    arguments = ["\n".join(["Args:", *entries])] if entries else []
    return "\n\n".join([*others[:first], *arguments, *(one for one in others[first:] if one.startswith("Raises:"))])


def _entry(name: str, source: str) -> str:
    found = re.search(rf"^( *)({name}: .*(?:\n\1 +\S.*)*)", source, re.MULTILINE)
    text = " ".join(found[2].split()) if found else ""
    return textwrap.fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
