"""The optional file `metadata` of a submission (docs/submissions.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from harness.inspector.keys import TEXTS


@dataclass(frozen=True)
class Metadata:
    """The known keys; others, such as the competition's own, are ignored."""

    name: str = ""
    team: str = ""
    description: str = ""
    paper: str = ""
    runtime: str | None = None  #: name of a runtime; None leaves the choice to the command line
    deterministic: bool = False  #: whether it says that its value depends on no seed

    @classmethod
    def from_texts(cls, found: Mapping[str, str]) -> Self:
        """Build the metadata from the texts that `harness.inspector` found."""
        texts = {key: text for key, text in found.items() if key in TEXTS}
        runtime = "keras2" if found.get("keras") == "2" else found.get("runtime") or None
        return cls(**texts, runtime=runtime, deterministic=found.get("deterministic") == "true")
