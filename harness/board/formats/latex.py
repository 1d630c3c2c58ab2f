"""The board as a LaTeX table (package booktabs) with its notes below, for a paper to include."""

import re
from collections.abc import Sequence

from harness.board.board import Board

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
    environment, head_ends = ("longtable", ["\\endhead"]) if len(board.rows) > PAGE else ("tabular", [])
    alignment = "".join("r" if column.kind in ("number", "place") else "l" for column in board.columns)
    packages = "booktabs,longtable" if head_ends else "booktabs"
    return "\n".join(
        [
            f"% \\usepackage{{{packages}}}",
            f"\\begin{{{environment}}}{{{alignment}}}",
            "\\toprule",
            _line(board.headings),
            "\\midrule",
            *head_ends,
            *(_line(board.cells(row)) for row in board.rows),
            "\\bottomrule",
            f"\\end{{{environment}}}",
            "",
            "{\\footnotesize\\raggedright",
            *(f"{escaped(note)}\\par" for note in board.notes),
            "}",
            "",
        ]
    )


def _line(texts: Sequence[str]) -> str:
    return " & ".join(map(escaped, texts)) + " \\\\"


def escaped(text: str) -> str:
    """Escape text for LaTeX; a hyphen before a number becomes a minus sign, and line breaks become spaces."""
    text = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text)
    text = re.sub(r"[\\~^<>|&%$#_{}]", lambda found: WORDS.get(found[0], f"\\{found[0]}"), text)
    return re.sub(r"^-(?=\d)", "$-$", text)
