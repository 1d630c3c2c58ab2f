"""Texts about a submission from its metadata: team, description, and paper."""

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from harness.text import cut

#: Maximum lengths of the texts in characters; longer texts are shortened.
LONGEST = {"team": 80, "description": 500, "paper": 300}


@dataclass(frozen=True)
class About:
    """Untrusted texts about a submission, each one printable line of limited length."""

    team: str = ""
    description: str = ""
    paper: str = ""

    @classmethod
    def from_texts(cls, team: str, description: str, paper: str) -> Self:
        """Return the texts, each as one printable line of at most `LONGEST` characters."""
        texts = {"team": team, "description": description, "paper": paper}
        return cls(**{key: cut(" ".join(text.split()), LONGEST[key]) for key, text in texts.items()})

    @property
    def link(self) -> str:
        """The paper's address on the web; empty if `paper` is anything else, such as a title."""
        return self.paper if _is_address(self.paper) else ""


def _is_address(text: str) -> bool:
    """Whether a text is an address of http or https in ASCII without a user name, which could mislead readers."""
    if not re.fullmatch(r"https?://[!#-;=?-~]+", text, re.IGNORECASE):  # printable ASCII, no quotes, no brackets
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False
