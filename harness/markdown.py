"""Escapes text of unknown origin, so that Markdown interprets nothing in it.

Like everything that `harness.ci.comment` imports, this module needs no installed packages.
"""

import re

from harness.text import safe_line

#: Characters of markup, entities and formulas; underscores, except inside a word; and characters that turn an address
#: into a link, or a line into a list or heading.
_MARKUP = re.compile(
    r"[\\`*{}\[\]<>#|~&$@]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])|:(?=//)|(?<=www)\."
    r"|^[-+=](?=[\s=-])|(?:(?<=^\d)|(?<=^\d\d))[.)](?=\s)"
)


def code(text: str, width: int | None = None) -> str:
    """Return a text as code on one line, in which GitHub finds no markup, link, formula, HTML, mention or issue.

    The text is cut to `width` characters, between words if possible. Characters that could end the code, or the cell of
    a table, are replaced.
    """
    line = " ".join(safe_line(text).split()).replace("`", "'").replace("|", "¦")
    if width and len(line) > width:
        space = line.rfind(" ", width // 2, width + 1)
        line = f"{line[:space]} ..." if space > 0 else f"{line[:width]}..."
    return f"`{line}`" if line else "`-`"


def block(text: str) -> str:
    """Return a text as a block of code that no line of the text can end."""
    lines = [safe_line(line).replace("`", "'") for line in text.splitlines()]
    return "\n".join(["```text", *lines, "```"])


def plain(text: str) -> str:
    """Return a text on one line with all markup escaped. GitHub still finds mentions; `code` prevents them."""
    return _MARKUP.sub(lambda found: "".join(f"\\{character}" for character in found[0]), safe_line(text))
