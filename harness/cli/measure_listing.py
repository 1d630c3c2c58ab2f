"""The list of `pgdl measures`: a table of the library by family, and a table of measures of installed packages."""

from collections.abc import Sequence
from itertools import groupby

from baselines import Measure, Need
from harness.submission.installed import InstalledMeasure
from harness.tables import print_lines, print_table, wide_console

HEADINGS = ("measure", "meaning", "cost", "needs", "source")

#: Width of a terminal up to which only the first three columns are shown, and the cost without the work.
NARROW = 150

OF_PACKAGES = ("installed measure", "package", "meaning")


def print_measures(measures: Sequence[Measure], others: Sequence[InstalledMeasure]) -> None:
    """Print a row for each measure of the library, and for each of the `others`."""
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
    """Return the measure's cost, followed by its work if it makes passes."""
    return str(measure.cost) if measure.work == "none" else f"{measure.cost}: {measure.work}"


def needs_of(measure: Measure) -> str:
    """Return the measure's inputs other than the trained weights, in the order of `Need`."""
    return ", ".join(need for need in Need if need in measure.needs)
