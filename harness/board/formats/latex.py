"""The board as a LaTeX table that spans both columns of a paper, with its notes below."""

import re
from collections import Counter
from collections.abc import Sequence

from harness.board.board import Board
from harness.board.row import Row
from harness.text import counted, printable

SUFFIX = ".tex"

#: Maximum number of rows of a table, to fit on a page; `longtable` does not work in papers with two columns.
PAGE = 40

#: The kinds of rows, as nouns for the caption.
NOUNS = {"submission": "submission", "baseline": "measure"}

#: Shrinks a table that is wider than the text to the width of the text.
FITTED = "\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%"

#: Gives the next part of a table the same number.
SAME_NUMBER = "\\addtocounter{table}{-1}"

#: Replacements for characters for which a backslash is not enough.
WORDS = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
    ">": "\\textgreater{}", "|": "\\textbar{}",
}  # fmt: skip


def render(board: Board) -> str:
    """Return the tables of the board with captions and notes; the first line names the packages that they need."""
    title = board.layout.title
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
    """Return the lines of a table of `rows`, numbers aligned to the right, at most as wide as the text."""
    alignment = "".join("r" if column.kind in ("number", "place") else "l" for column in board.columns)
    body = [_line(board.headings), "\\midrule", *(_line(board.cells(row)) for row in rows)]
    return [FITTED, *_environment("tabular", ["\\toprule", *body, "\\bottomrule"], f"{{{alignment}}}"), "}"]


def _caption(board: Board) -> str:
    """Return the caption: the title of the board, the numbers of submissions and measures, and the tasks."""
    kinds = Counter(row.kind for row in board.rows)
    rows = " and ".join(counted(kinds[kind], noun) for kind, noun in NOUNS.items() if kinds[kind]) or "nobody"
    networks = {name: max((row.tasks[name].n_models for row in board.rows), default=0) for name in board.tasks}
    tasks = ", ".join(f"{name} ({counted(number, 'network')})" for name, number in networks.items())
    title = f"{board.layout.title} of {rows} on {counted(len(networks), 'task')}: {tasks}"
    return f"{title}. Scores are from 0 to 100, and larger is better."


def _environment(environment: str, lines: Sequence[str], arguments: str = "") -> list[str]:
    return [f"\\begin{{{environment}}}{arguments}", *lines, f"\\end{{{environment}}}"]


def _line(texts: Sequence[str]) -> str:
    return " & ".join(map(escaped, texts)) + " \\\\"


def escaped(text: str) -> str:
    """Return text for LaTeX on one line, with special characters escaped, and a minus sign before a negative number.

    A bracket or an asterisk at the beginning is put into a group. Otherwise, at the beginning of a line, LaTeX would
    take it for an argument of the line break before it.
    """
    text = printable(re.sub(r"[\s\x00-\x1f\x7f]+", " ", text))
    text = re.sub(r"[\\~^<>|&%$#_{}]", lambda found: WORDS.get(found[0], f"\\{found[0]}"), text)
    return re.sub(r"^[\[*]", r"{\g<0>}", re.sub(r"^-(?=\d)", "$-$", text))
