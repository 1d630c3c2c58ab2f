"""A participant's texts about a submission, for the readers of a board: team, description and paper."""

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from harness.text import cut

#: Text -> maximum length in characters. Longer texts are cut.
LONGEST = {"team": 80, "description": 500, "paper": 300}


@dataclass(frozen=True)
class About:
    """Texts of a participant about a submission. Each is a printable line; `LONGEST` limits its length."""

    team: str = ""
    description: str = ""
    paper: str = ""

    @classmethod
    def from_texts(cls, team: str, description: str, paper: str) -> Self:
        """Convert the texts to single lines, with `?` for unprintable characters, and cut lines that are too long."""
        texts = {"team": team, "description": description, "paper": paper}
        return cls(**{key: cut(" ".join(text.split()), LONGEST[key]) for key, text in texts.items()})

    @property
    def link(self) -> str:
        """The web address of the paper; empty if `paper` is something else, such as a title."""
        return self.paper if _is_address(self.paper) else ""


def _is_address(text: str) -> bool:
    """Return whether a text is a harmless web address: in ASCII, without a user name that could mislead readers."""
    if not re.fullmatch(r"https?://[!#-;=?-~]+", text, re.IGNORECASE):  # printable ASCII, no quotes, no brackets
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False
