"""The board as a LaTeX table that spans both columns of a page, with notes below."""

import re
from collections import Counter
from collections.abc import Sequence

from harness.board.board import Board
from harness.board.row import Row
from harness.text import counted, printable

SUFFIX = ".tex"

PAGE = 40  #: maximum number of rows on a page; `longtable` does not work on pages with two columns
NOUNS = {"submission": "submission", "baseline": "measure"}  #: kind of a row -> noun for the caption

#: Shrinks a table that is wider than the text to the width of the text.
FITTED = "\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%"

SAME_NUMBER = "\\addtocounter{table}{-1}"  #: gives the next part of a table the number of the part before

#: Replacements of characters that a backslash does not escape.
WORDS = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
    ">": "\\textgreater{}", "|": "\\textbar{}",
}  # fmt: skip


def render(board: Board) -> str:
    """Return LaTeX tables of up to `PAGE` rows, with captions and notes. The first line names the packages to load."""
    title = board.title
    parts = [board.rows[start : start + PAGE] for start in range(0, max(1, len(board.rows)), PAGE)]
    lines = ["% \\usepackage{booktabs,graphicx}"]
    for number, rows in enumerate(parts, start=1):
        is_first, is_last = number == 1, number == len(parts)
        caption = escaped(_caption(board) if is_first else f"{title}, part {number} of {len(parts)}.")
        captioned, label = f"\\caption{{{caption}}}", f"\\label{{tab:{title.lower()}}}"
        above = [captioned, label] if is_first else [SAME_NUMBER, captioned]
        below = ["", "\\raggedright", *(f"{escaped(note)}\\par" for note in board.notes)] if is_last else []
        lines += _environment("table*", ["\\centering\\footnotesize", *above, *_tabular(board, rows), *below])
    return "\n".join([*lines, ""])


def _tabular(board: Board, rows: Sequence[Row]) -> list[str]:
    alignment = "".join("r" if column.kind in ("number", "place") else "l" for column in board.columns)
    body = [_line(board.headings), "\\midrule", *(_line(board.cells(row)) for row in rows)]
    return [FITTED, *_environment("tabular", ["\\toprule", *body, "\\bottomrule"], f"{{{alignment}}}"), "}"]


def _caption(board: Board) -> str:
    kinds = Counter(row.kind for row in board.rows)
    rows = " and ".join(counted(kinds[kind], noun) for kind, noun in NOUNS.items() if kinds[kind]) or "nobody"
    networks = {name: max((row.tasks[name].n_models for row in board.rows), default=0) for name in board.tasks}
    tasks = ", ".join(f"{name} ({counted(number, 'network')})" for name, number in networks.items())
    title = f"{board.title} of {rows} on {counted(len(networks), 'task')}: {tasks}"
    return f"{title}. Scores are from 0 to 100, and larger is better."


def _environment(environment: str, lines: Sequence[str], arguments: str = "") -> list[str]:
    return [f"\\begin{{{environment}}}{arguments}", *lines, f"\\end{{{environment}}}"]


def _line(texts: Sequence[str]) -> str:
    return " & ".join(map(escaped, texts)) + " \\\\"


def escaped(text: str) -> str:
    """Return the text on one line, with special characters of LaTeX escaped, and `$-$` before negative numbers.

    A bracket or an asterisk at the beginning gets braces; otherwise LaTeX would take it for an argument of the line
    above.
    """
    text = printable(re.sub(r"[\s\x00-\x1f\x7f]+", " ", text))
    text = re.sub(r"[\\~^<>|&%$#_{}]", lambda found: WORDS.get(found[0], f"\\{found[0]}"), text)
    return re.sub(r"^[\[*]", r"{\g<0>}", re.sub(r"(?<![^ (])-(?=\d)", "$-$", text))
