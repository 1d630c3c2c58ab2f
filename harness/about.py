"""Metadata of a submission: its authors, a description, and links."""

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from harness.text import printable

#: Maximum lengths of the texts in characters; longer texts are cut.
LONGEST = {"team": 80, "description": 500, "paper": 300}


@dataclass(frozen=True)
class About:
    """Texts by a stranger, one line each: printable and not too long, with any content."""

    team: str = ""
    description: str = ""
    paper: str = ""

    @classmethod
    def from_texts(cls, team: str, description: str, paper: str) -> Self:
        """Return the texts in one line each, printable and cut to `LONGEST`."""
        texts = {"team": team, "description": description, "paper": paper}
        return cls(**{key: _one_line(text, LONGEST[key]) for key, text in texts.items()})

    @property
    def link(self) -> str:
        """The paper's address on the web; empty if `paper` is anything else, such as a title."""
        return self.paper if _is_address(self.paper) else ""


def _one_line(text: str, longest: int) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _is_address(text: str) -> bool:
    """Whether a text is an address of http or https that cannot mislead: no user name, no foreign letters."""
    if not re.fullmatch(r"https?://[!#-;=?-~]+", text, re.IGNORECASE):  # printable ASCII, no quotes, no brackets
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False
