"""Markdown of texts that may be a stranger's: what is written by hand beside them is all that is interpreted.

Imports the standard library only, as `harness.ci.comment` must.
"""

import re

from harness.text import shown

#: Markup characters, also of entities and formulas; underscores, except those inside a word; what makes a link of an
#: address; and what makes a list or a heading of a line.
_MARKUP = re.compile(
    r"[\\`*{}\[\]<>#|~&$@]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])|:(?=//)|(?<=www)\."
    r"|^[-+=](?=[\s=-])|(?:(?<=^\d)|(?<=^\d\d))[.)](?=\s)"
)


def code(text: str, width: int | None = None) -> str:
    """Return a text as code on one line, which is neither markup, link, formula, HTML, mention nor issue of GitHub.

    It has at most `width` characters. Those that could end the code, or the cell of a table, are replaced.
    """
    line = " ".join(shown(text).split()).replace("`", "'").replace("|", "¦")
    return f"`{line[:width]}{'...' if width and len(line) > width else ''}`" if line else "`-`"


def plain(text: str) -> str:
    """Return a text as it reads, on one line; for what nobody is notified of, as GitHub finds mentions in it."""
    return _MARKUP.sub(lambda found: "".join(f"\\{character}" for character in found[0]), shown(text))
