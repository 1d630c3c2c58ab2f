"""The report of tests/gpu/run: one result per step, as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

OK, FAILED, SKIPPED = "ok", "FAILED", "skipped"


@dataclass(frozen=True)
class Result:
    """The title of a step, and how the step ended."""

    title: str
    state: str  #: OK, FAILED or SKIPPED
    finding: str  #: one line; the reason of a skip or a failure
    details: str = ""  #: Markdown
    seconds: float = 0.0


def to_markdown(results: Sequence[Result], begun: str) -> str:
    """Return a table of all steps, then a section with the details of each step."""
    counts = ", ".join(f"{sum(one.state == state for one in results)} {state}" for state in (OK, FAILED, SKIPPED))
    rows = [(one.title, one.state, " ".join(one.finding.split()), f"{one.seconds:.0f}") for one in results]
    sections = [f"\n## {one.title}\n\n{one.details.strip()}\n" for one in results if one.details.strip()]
    begin = f"# Checks on this machine\n\nBegun {begun}. {counts}.\n\n"
    return begin + table(("step", "", "finding", "s"), rows) + "".join(sections)


def block(text: str) -> str:
    return f"```\n{text.strip()}\n```\n"


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "".join(f"{line(one)}\n" for one in (titles, ["---"] * len(titles), *rows))


def line(cells: Sequence[object]) -> str:
    texts = (str(cell).strip().replace("|", "\\|").replace("\n", "; ") for cell in cells)
    return f"| {' | '.join(texts)} |"
