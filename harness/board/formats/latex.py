"""The board as a LaTeX table (package booktabs) with its notes below, for a paper to include."""

import re
from collections.abc import Sequence

from harness.board.board import Board
from harness.text import printable

SUFFIX = ".tex"

#: Rows that fit on a page; longer tables span several pages (package longtable).
PAGE = 45

#: Replacements for characters that LaTeX would interpret or print as others, where a backslash is not enough.
WORDS = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
    ">": "\\textgreater{}", "|": "\\textbar{}",
}  # fmt: skip


def render(board: Board) -> str:
    """Return the table, numbers aligned to the right; the first line names the packages it needs."""
    alignment = "".join("r" if column.kind in ("number", "place") else "l" for column in board.columns)
    title = board.layout.title
    caption = [f"\\caption{{{escaped(title)}.}}", f"\\label{{tab:{title.lower()}}}"]
    head = ["\\toprule", _line(board.headings), "\\midrule"]
    body = [*(_line(board.cells(row)) for row in board.rows), "\\bottomrule"]
    notes = ["{\\footnotesize\\raggedright", *(f"{escaped(note)}\\par" for note in board.notes), "}"]
    if len(board.rows) > PAGE:
        lines = [*_in("longtable", [*caption, "\\\\", *head, "\\endhead", *body], f"{{{alignment}}}"), "", *notes]
        return "\n".join(["% \\usepackage{booktabs,longtable}", *lines, ""])
    table = _in("tabular", [*head, *body], f"{{{alignment}}}")
    return "\n".join(["% \\usepackage{booktabs}", *_in("table", ["\\centering", *caption, *table, "", *notes]), ""])


def _in(environment: str, lines: Sequence[str], arguments: str = "") -> list[str]:
    return [f"\\begin{{{environment}}}{arguments}", *lines, f"\\end{{{environment}}}"]


def _line(texts: Sequence[str]) -> str:
    return " & ".join(map(escaped, texts)) + " \\\\"


def escaped(text: str) -> str:
    """Escape text for LaTeX; a hyphen before a number becomes a minus sign, and line breaks become spaces.

    A bracket or an asterisk at its beginning is put into a group: as the first of a line, it would be taken for an
    argument of the end of the line before it.
    """
    text = printable(re.sub(r"[\s\x00-\x1f\x7f]+", " ", text))
    text = re.sub(r"[\\~^<>|&%$#_{}]", lambda found: WORDS.get(found[0], f"\\{found[0]}"), text)
    return re.sub(r"^[\[*]", r"{\g<0>}", re.sub(r"^-(?=\d)", "$-$", text))
