"""The board as a LaTeX table across both columns of a paper, with its notes below (packages booktabs, graphicx)."""

import re
from collections import Counter
from collections.abc import Sequence

from harness.board.board import Board
from harness.board.row import Row
from harness.text import counted, printable

SUFFIX = ".tex"

#: Rows that fit on a page beside the notes; a longer table has a part on each page. `longtable` does not work in papers
#: with two columns.
PAGE = 40

#: The kinds of rows, as a caption counts them.
NOUNS = {"submission": "submission", "baseline": "measure"}

#: Shrinks what is wider than the text, and nothing else.
FITTED = "\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%"

#: Keeps the number of a table for its next part.
SAME_NUMBER = "\\addtocounter{table}{-1}"

#: Replacements for characters that LaTeX would interpret or print as others, where a backslash is not enough.
WORDS = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
    ">": "\\textgreater{}", "|": "\\textbar{}",
}  # fmt: skip


def render(board: Board) -> str:
    """Return the table, numbers aligned to the right; the first line names the packages it needs."""
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
    """A table of some of the rows, as wide as the text at most."""
    alignment = "".join("r" if column.kind in ("number", "place") else "l" for column in board.columns)
    body = [_line(board.headings), "\\midrule", *(_line(board.cells(row)) for row in rows)]
    return [FITTED, *_environment("tabular", ["\\toprule", *body, "\\bottomrule"], f"{{{alignment}}}"), "}"]


def _caption(board: Board) -> str:
    """Who is compared, and on what."""
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
    """Escape text for LaTeX; a hyphen before a number becomes a minus sign, and line breaks become spaces.

    A bracket or an asterisk at its beginning is put into a group: as the first of a line, it would be taken for an
    argument of the end of the line before it.
    """
    text = printable(re.sub(r"[\s\x00-\x1f\x7f]+", " ", text))
    text = re.sub(r"[\\~^<>|&%$#_{}]", lambda found: WORDS.get(found[0], f"\\{found[0]}"), text)
    return re.sub(r"^[\[*]", r"{\g<0>}", re.sub(r"^-(?=\d)", "$-$", text))
