"""`pgdl measures`: lists the library of measures, and explains each."""

import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from harness.cli import as_json, completion, options
from harness.errors import UserError
from harness.names import CHEAP
from harness.printing import say

if TYPE_CHECKING:
    from baselines import Measure
    from harness.submission.installed import InstalledMeasure

#: The value of `--cost` without a name.
FORECAST = "forecast"

#: Attributes of a measure that are texts.
TEXTS = (
    "name", "family", "meaning", "formula", "range", "weights", "draws", "order", "refused", "cost", "work", "source",
)  # fmt: skip

WIDTH = 116  #: width of the explanations of parameters, in characters, as in docstrings


@click.command("measures")
@click.argument("name", required=False, shell_complete=completion.measures)
@click.option("--family", metavar="NAME", help="List only the measures of this family.")
@click.option(
    "--cost", metavar="NAME", is_flag=False, flag_value=FORECAST,
    help=f"List only the measures of this cost: weights, forward, gradients or many; {CHEAP}: weights or forward. "
    "Without NAME: forecast seconds and memory on the task of --tasks and --task.",
)  # fmt: skip
@options.tasks
@options.task
@as_json.option
@click.pass_context
def command(
    context: click.Context, name: str | None, family: str | None, cost: str | None, tasks_dir: Path,
    task_names: tuple[str, ...], form: str,
) -> None:  # fmt: skip
    """List the measures of the library by family, and measures of installed packages, or explain the measure NAME.

    A measure can be run wherever a submission can. Its cost is weights (it reads weights only), forward (up to three
    forward passes over the training examples that it uses), gradients (up to a forward and backward pass for each
    class) or many (more passes). F is a forward pass, B a forward and backward pass. Other packages add measures by
    entry points (pgdl help measures). Such measures run like submissions, and their code is never imported here.

    With --tasks, --task, or --cost without a name, seconds and memory on a task are forecast for NAME or for all listed
    measures. For this, a forward pass, and a forward and backward pass, are timed in the sandbox on the task's smallest
    and largest model.

    Example: pgdl measures vc_dim, then pgdl run vc_dim:image_side=28, and pgdl measures --cost many --task digits_nin
    """
    from harness.cli.measure_tables import print_measures
    from harness.submission.installed import installed_measures

    measure = None if name is None else _named(name, family, cost)
    chosen = _filtered(family, cost) if measure is None else []
    given = [context.get_parameter_source(option) for option in ("tasks_dir", "task_names")]
    if cost == FORECAST or ParameterSource.COMMANDLINE in given:
        from harness.cli.measure_tables import show_forecast

        show_forecast(chosen if measure is None else [_known_cost(measure)], tasks_dir, task_names, form)
        return
    if measure is not None:
        if form == as_json.JSON:
            as_json.show(_as_object(measure))
        else:
            _explain(measure)
        return
    others = installed_measures() if family is None and cost is None else ()
    if form == as_json.JSON:
        as_json.show([*map(_as_object, chosen), *map(_as_object, others)])
    else:
        print_measures(chosen, others)


def _named(name: str, family: str | None, cost: str | None) -> "Measure | InstalledMeasure":
    import baselines
    from harness.submission.installed import installed_measures

    known: dict[str, Measure | InstalledMeasure] = {measure.name: measure for measure in installed_measures()}
    known.update(baselines.MEASURES)
    plain, has_parameters, _ = name.partition(":")
    if has_parameters and plain in known:
        raise UserError("parameters are not taken here", file=name, expected=f"{plain} alone, which means its defaults")
    if name not in known:
        raise _unknown("measure", plain, list(known))
    for option, value in (("--family", family), ("--cost", None if cost == FORECAST else cost)):
        if value is not None:
            raise UserError(f"{option} {value}", expected="without the name of a measure", found=name)
    return known[name]


def _filtered(family: str | None, cost: str | None) -> "list[Measure]":
    import baselines

    families = list(dict.fromkeys(measure.family for measure in baselines.MEASURES.values()))
    if family is not None and family not in families:
        raise _unknown("family", family, families)
    if cost not in (None, FORECAST, *(costs := [*baselines.Cost, CHEAP])):
        raise _unknown("cost", str(cost), costs)
    of_family = [measure for measure in baselines.MEASURES.values() if family in (None, measure.family)]
    chosen = [one for one in of_family if cost in (None, FORECAST, one.cost) or (cost == CHEAP and one.is_cheap)]
    if not chosen:
        raise UserError(f"no measure of the family {family} has the cost {cost}")
    return chosen


def _known_cost(measure: "Measure | InstalledMeasure") -> "Measure":
    from harness.submission.installed import InstalledMeasure

    if isinstance(measure, InstalledMeasure):
        expected, found = "a measure of the library", f"a measure of {measure.origin}"
        raise UserError("its cost is not known", file=measure.name, expected=expected, found=found)
    return measure


def _unknown(kind: str, name: str, known: list[str]) -> UserError:
    from harness.hints import did_you_mean

    listed = "pgdl measures lists them" if kind == "measure" else f"there are {', '.join(known)}"
    return UserError(f"no such {kind}", file=name, remedy=did_you_mean(name, known) or listed)


def _explain(measure: "Measure | InstalledMeasure") -> None:
    from harness.cli.measure_tables import cost_of
    from harness.submission.installed import InstalledMeasure

    known = _as_object(measure)
    facts = {
        "family": known["family"],
        "formula": known["formula"],
        "range": known["range"],
        "parameters": ", ".join(f"{name}={default}" for name, default in known["parameters"].items()),
        "needs": ", ".join(known["needs"]),
        "weights": known["weights"],
        "cost": None if isinstance(measure, InstalledMeasure) else cost_of(measure),
        "draws": known["draws"],
        "order": known["order"] and f"that of {known['order']}, for all networks",
        "refused if": known["refused"],
        "source": known["source"],
        "origin": known["origin"],
    }
    lines = [f"  {label:<12}{text or 'none'}" for label, text in facts.items() if text is not None]
    say(measure.name, bold=True, nl=False)
    say(f": {known['meaning']}", "", *lines, "", *(known["explanation"].splitlines() or [""]))


def _as_object(measure: "Measure | InstalledMeasure") -> dict[str, Any]:
    """Return a measure as a JSON object. Fields that the metadata of an installed package lack are None."""
    import harness
    from harness.cli.measure_tables import needs_of
    from harness.submission.installed import InstalledMeasure

    if isinstance(measure, InstalledMeasure):
        told = dict.fromkeys(TEXTS) | {"name": measure.name, "meaning": measure.summary, "source": measure.value}
        parameters, needs, origin = dict[str, Any](), "", measure.origin
        more = f"Cannot be run: {measure.problem}." if measure.problem else ""
    else:
        told = {key: getattr(measure, key) or None for key in TEXTS}
        parameters, needs, more = measure.parameters, needs_of(measure), explanation(measure)
        origin = f"pgdl-harness {harness.__version__}"
    lists = {"parameters": parameters, "needs": needs.split(", ") if needs else []}
    return told | lists | {"origin": origin, "explanation": more}


def explanation(measure: "Measure") -> str:
    """Return a measure's docstring without its first two paragraphs; the section Args describes every parameter."""
    from baselines.core import parameters

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
