"""`pgdl measures`: the library of measures."""

import inspect
import json
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion, options
from harness.errors import UserError

if TYPE_CHECKING:
    from baselines import Measure

#: Space between columns, and the shares of a narrow terminal's width for meaning, cost, needs and source.
GAP = "  "
SHARES = (0.45, 0.2, 0.15, 0.2)


@click.command("measures")
@click.argument("name", required=False, shell_complete=completion.measures)
@click.option("--family", metavar="NAME", help="List only the measures of this family.")
@options.table_or_json
def command(name: str | None, family: str | None, form: str) -> None:
    """List the measures of the library by family, or explain the one called NAME.

    A measure can be run wherever a submission can. Costs are in passes over the training examples that it uses:
    F is one forward pass, B one forward and backward pass.

    Example: pgdl measures vc_dim, then pgdl run vc_dim:image_side=28
    """
    import baselines

    if name is not None:
        measure = baselines.MEASURES.get(name)
        if measure is None:
            raise _unknown("measure", name, list(baselines.MEASURES))
        click.echo(json.dumps(_as_object(measure), indent=1) if form == "json" else _explanation(measure))
        return
    families = list(dict.fromkeys(measure.family for measure in baselines.MEASURES.values()))
    if family is not None and family not in families:
        raise _unknown("family", family, families)
    chosen = [measure for measure in baselines.MEASURES.values() if family in (None, measure.family)]
    if form == "json":
        click.echo(json.dumps([_as_object(measure) for measure in chosen], indent=1))
    else:
        click.echo(_listing(chosen, shutil.get_terminal_size().columns if sys.stdout.isatty() else None))


def _unknown(kind: str, name: str, known: list[str]) -> UserError:
    from harness.hints import did_you_mean

    listed = "pgdl measures lists them" if kind == "measure" else f"there are {', '.join(known)}"
    return UserError(f"no such {kind}", file=name, remedy=did_you_mean(name, known) or listed)


def _listing(measures: Sequence["Measure"], width: int | None) -> str:
    """Return one line per measure below its family; columns other than names are shortened to fit into `width`."""
    rows = {m.name: (m.name, m.meaning, m.cost, _needs(m) or "-", m.source) for m in measures}
    widths = [max(map(len, column)) for column in zip(*rows.values(), strict=True)]
    if width is not None:
        left = max(width - widths[0] - len(GAP) * len(widths), 0)
        widths[1:] = [min(wide, int(share * left)) for wide, share in zip(widths[1:], SHARES, strict=True)]
    sections = []
    for family in dict.fromkeys(measure.family for measure in measures):
        lines = [_line(rows[measure.name], widths) for measure in measures if measure.family == family]
        sections.append("\n".join([click.style(family, bold=True), *lines]))
    return "\n\n".join(sections)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    shown = (
        cell if len(cell) <= width else f"{cell[: max(width - 1, 0)]}…"
        for cell, width in zip(cells, widths, strict=True)
    )
    return GAP + GAP.join(cell.ljust(width) for cell, width in zip(shown, widths, strict=True)).rstrip()


def _explanation(measure: "Measure") -> str:
    """Return all that is known of a measure."""
    facts = {
        "family": measure.family,
        "formula": measure.formula,
        "parameters": ", ".join(f"{name}={default}" for name, default in measure.parameters.items()),
        "needs": _needs(measure),
        "cost": measure.cost,
        "source": measure.source,
    }
    lines = [f"  {label:<12}{text or 'none'}" for label, text in facts.items()]
    heading = f"{click.style(measure.name, bold=True)}: {measure.meaning}"
    return "\n".join([heading, "", *lines, "", inspect.getdoc(measure.function) or ""])


def _needs(measure: "Measure") -> str:
    """Return the measure's inputs other than the trained weights, in the order in which `Need` declares them."""
    return ", ".join(need for need in type(next(iter(measure.needs))) if need in measure.needs) if measure.needs else ""


def _as_object(measure: "Measure") -> dict[str, Any]:
    return {
        "name": measure.name,
        "family": measure.family,
        "meaning": measure.meaning,
        "formula": measure.formula,
        "parameters": measure.parameters,
        "needs": _needs(measure).split(", ") if measure.needs else [],
        "cost": measure.cost,
        "source": measure.source,
        "explanation": inspect.getdoc(measure.function) or "",
    }
