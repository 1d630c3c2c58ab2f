"""The optional file `metadata` of a submission (docs/submissions.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from harness.about import About


@dataclass(frozen=True)
class Metadata:
    """The known keys; others, such as the competition's own, are ignored."""

    name: str = ""
    about: About = field(default_factory=About)
    runtime: str | None = None  #: name of a runtime; None leaves the choice to the command line
    deterministic: bool = False  #: whether it says that its value depends on no seed

    @classmethod
    def from_texts(cls, found: Mapping[str, str]) -> Self:
        """Build the metadata from the texts that `harness.inspector` found."""
        about = About.from_texts(*(found.get(key, "") for key in ("team", "description", "paper")))
        runtime = "keras2" if found.get("keras") == "2" else found.get("runtime") or None
        return cls(found.get("name", ""), about, runtime=runtime, deterministic=found.get("deterministic") == "true")
