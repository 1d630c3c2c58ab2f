"""A submission: its files in memory, its name and metadata, and its digest."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from harness.about import About
from harness.digest import code_of, digest_of
from harness.names import LIBRARY

if TYPE_CHECKING:
    from baselines import Need


@dataclass(frozen=True)
class Metadata:
    """The known keys of a submission's optional file `metadata` (docs/submissions.md)."""

    name: str = ""
    about: About = field(default_factory=About)
    runtime: str | None = None  #: name of a runtime; None leaves the choice to the command line
    deterministic: bool = False  #: the author's claim that values depend on no seed

    @classmethod
    def from_texts(cls, found: Mapping[str, str]) -> Self:
        """Return the metadata from the texts that `harness.inspector` has found (key -> text)."""
        about = About.from_texts(*(found.get(key, "") for key in ("team", "description", "paper")))
        runtime = "keras2" if found.get("keras") == "2" else found.get("runtime") or None
        return cls(found.get("name", ""), about, runtime=runtime, deterministic=found.get("deterministic") == "true")


@dataclass(frozen=True)
class Submission:
    """A submission with all its files in memory: later changes on the disk affect neither its digest nor its calls."""

    name: str
    files: dict[str, bytes] = field(repr=False)  #: relative path -> content
    metadata: Metadata = field(default_factory=Metadata)
    is_baseline: bool = False
    needs: "frozenset[Need]" = frozenset()  #: needs of a measure of the library; empty for other submissions
    source: str = LIBRARY  #: absolute path of the file or directory, or the name of an installed measure
    notes: tuple[str, ...] = ()  #: lines for the user on how the files were read
    problem: str | None = None  #: reason why the submission cannot be run
    is_claimed: bool = False  #: whether only the metadata have the name; the file or folder has another name

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all paths and contents; for a measure of the library, without docstrings and comments."""
        files = {path: code_of(content) for path, content in self.files.items()} if self.is_baseline else self.files
        return digest_of(sorted(files.items()))

    @property
    def measure_file(self) -> str:
        """The place of complexity.py, for messages: its path, or the zip, function or measure that contains it."""
        path = Path(self.source)
        if path.is_dir():
            return str(path / "complexity.py")
        return self.source if path.suffix == ".py" else f"{self.source}: complexity.py"


def write_files(files: Mapping[str, bytes], directory: Path) -> None:
    """Write relative path -> content as files below `directory`."""
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
