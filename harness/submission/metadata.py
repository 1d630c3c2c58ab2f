"""The optional file `metadata` of a submission (docs/submissions.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Metadata:
    """The known keys; others, such as the competition's own, are ignored."""

    name: str = ""
    team: str = ""
    description: str = ""
    paper: str = ""
    keras: int | None = None  #: 2 or 3; None leaves the choice to the command line

    @classmethod
    def from_texts(cls, found: Mapping[str, str]) -> Self:
        """Build the metadata from the texts that `harness.inspector` found."""
        texts = {key: text for key, text in found.items() if key != "keras"}
        return cls(**texts, keras=int(found["keras"]) if found.get("keras") else None)
