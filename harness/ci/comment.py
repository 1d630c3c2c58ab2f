"""Renders the comment on a change in Markdown, from a report that may be forged.

Every text of a report is written as code, so that GitHub interprets nothing in it. Only the standard library is
imported: `harness.ci.post` needs no installation.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from harness import markdown
from harness.ci.report import MAX_OTHERS, ChangeReport, Line
from harness.text import p_value_equation, p_value_text

#: First line of every comment, by which a job finds the earlier comment to replace.
MARK = "<!-- pgdl leaderboard -->"

#: Maximum number of entries of a list in the comment, and of characters of a text.
SHOWN, WIDTH = 30, 200

#: Maximum number of tracebacks in the comment.
TRACEBACKS = 5

#: Changes of submissions that the base has.
OVERWRITING = ("changed", "renamed", "removed")

#: Columns that are left out if a task is hidden.
WITHHELD = ("interval (90 %)", "chance", "p", "possible ranks")

#: Largest p-value of a difference that is called clear.
CLEAR = 0.05

FOOTER = (
    "Computed in the job of this change, from its submissions alone: tasks, rules and harness are those of the base. "
    "After the merge the board is computed anew."
)


def render(report: ChangeReport, links: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the comment on a report. It ends with `links` (text -> address)."""
    parts = [MARK, "## Leaderboard", "", *_verdict(report)]
    parts += _section("Before you merge", [*map(code, report.notes)])
    parts += _section("No ranks: records of these submissions are missing", [*map(code, report.missing)])
    lines, left_out = report.lines[:SHOWN], len(report.lines) - SHOWN
    parts += _overwritten(report.lines)
    if lines:
        parts += ["", *_table(lines, report), *_more(left_out, "submissions"), *_withheld(report)]
    failed = [line for line in lines if line.problem and line.change != "refused"]
    parts += _section("Problems", [f"{code(line.name)}: {code(line.problem)}" for line in failed])
    parts += _tracebacks(lines)
    parts += _section("Against the neighbours on the board", _neighbours(lines))
    same = [f"{', '.join(map(code, one.names[:SHOWN]))}: the same {code(one.what)}" for one in report.same]
    parts += _section("The same under several names", same)
    moved = [f"{code(one.name)}: {_rank(one.rank_before)} → {_rank(one.rank)}" for one in report.moved]
    parts += _section("Ranks of others", moved)
    parts += _section("Other files of this change, none of which was used", [*map(code, report.others[:MAX_OTHERS])])
    parts += _more(report.n_others - MAX_OTHERS, "files")
    parts += ["", " · ".join(f"[{text}]({address})" for text, address in links.items())] if links else []
    return "\n".join([*parts, "", f"<sub>{code(report.head[:12])}. {FOOTER}</sub>", ""])


def code(text: str) -> str:
    """Return a text of the report as Markdown code of at most `WIDTH` characters."""
    return markdown.code(text, WIDTH)


def _tracebacks(lines: Sequence[Line]) -> list[str]:
    failed = [line for line in lines if line.traceback][:TRACEBACKS]
    texts = [text for line in failed for text in ("", code(line.name), "", markdown.block(line.traceback))]
    return ["", "### Tracebacks, of the first call that failed", *texts] if failed else []


def _verdict(report: ChangeReport) -> list[str]:
    if report.broken:
        return ["**The job fails:**", "", *(f"- {code(line)}" for line in report.broken[:SHOWN])]
    return ["No submission is touched." if not report.lines else "All rules are kept."]


def _overwritten(lines: Sequence[Line]) -> list[str]:
    old = [f"{code(line.renamed_from or line.name)} ({line.change})" for line in lines if line.change in OVERWRITING]
    names = ", ".join(old[:SHOWN]) + (f" and {len(old) - SHOWN} more" if len(old) > SHOWN else "")
    return ["", f"**Submissions of the base that this change overwrites:** {names}"] if old else []


def _table(lines: tuple[Line, ...], report: ChangeReport) -> list[str]:
    rows = [_cells(line, report) for line in lines]
    headings = [one for one in rows[0] if not report.withheld or one not in WITHHELD]
    texts = [headings, ["---"] * len(headings), *([row[one] for one in headings] for row in rows)]
    return ["| " + " | ".join(cells) + " |" for cells in texts]


def _cells(line: Line, report: ChangeReport) -> dict[str, str]:
    return {
        "submission": code(line.name),
        "change": code(line.change) + (f" from {code(line.renamed_from)}" if line.renamed_from else ""),
        "rank": _before_and_after(_rank(line.rank_before), _rank(line.rank), line),
        "score": _before_and_after(_number(line.score_before, report), _number(line.score, report), line),
        "interval (90 %)": "-" if line.low is None else f"{_number(line.low, report)} to {_number(line.high, report)}",
        "chance": _number(line.chance, report),
        "p": p_value_text(line.p_value),
        "possible ranks": "-" if line.best_rank is None else f"{line.best_rank} to {_rank(line.worst_rank)}",
        "models": f"{line.calls_ok} of {line.calls_expected}" if line.calls_expected else "-",
    }


def _withheld(report: ChangeReport) -> list[str]:
    if not report.withheld:
        return []
    names = ", ".join(map(code, report.withheld[:SHOWN]))
    return [
        "",
        f"Hidden: {names}. Scores are rounded; {', '.join(WITHHELD)} and the differences to others are withheld.",
    ]


def _before_and_after(before: str, after: str, line: Line) -> str:
    return f"{before} → {after}" if line.change in OVERWRITING else after


def _neighbours(lines: Sequence[Line]) -> list[str]:
    """Return lines on the differences from the rows above and below; submissions with equal texts share a line."""
    names: dict[str, list[str]] = {}
    for line in lines:
        for side, other, p_value in (
            ("below", line.above, line.above_p_value), ("above", line.below, line.below_p_value),
        ):  # fmt: skip
            if p_value is not None:
                clear = "a clear" if p_value <= CLEAR else "no clear"
                text = f"{side} {code(other)}: {clear} difference ({p_value_equation(p_value)})"
                names.setdefault(text, []).append(code(line.name))
    return [f"{', '.join(these)} {'is' if len(these) == 1 else 'are'} {text}" for text, these in names.items()]


def _section(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    return ["", f"### {title}", "", *(f"- {item}" for item in items[:SHOWN]), *_more(len(items) - SHOWN, "lines")]


def _more(number: int, noun: str) -> list[str]:
    return ["", f"... and {number} more {noun}."] if number > 0 else []


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _number(number: float | None, report: ChangeReport) -> str:
    return "-" if number is None else f"{number:.{min(max(report.decimals, 0), 4)}f}"
