"""A submission: its files in memory, its name and metadata, and a digest of its code."""

import ast
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from harness.about import About
from harness.digest import digest_of
from harness.names import LIBRARY

if TYPE_CHECKING:
    from baselines import Need


@dataclass(frozen=True)
class Metadata:
    """The known keys of the optional file `metadata` (docs/submissions.md); other keys are ignored."""

    name: str = ""
    about: About = field(default_factory=About)
    runtime: str | None = None  #: name of a runtime; None leaves the choice to the command line
    deterministic: bool = False  #: the author's claim: the value depends on no seed

    @classmethod
    def from_texts(cls, found: Mapping[str, str]) -> Self:
        """Build the metadata from the texts that `harness.inspector` found."""
        about = About.from_texts(*(found.get(key, "") for key in ("team", "description", "paper")))
        runtime = "keras2" if found.get("keras") == "2" else found.get("runtime") or None
        return cls(found.get("name", ""), about, runtime=runtime, deterministic=found.get("deterministic") == "true")


@dataclass(frozen=True)
class Submission:
    """A submission in memory: the digest covers the files that run."""

    name: str
    files: dict[str, bytes] = field(repr=False)  #: relative path -> content
    metadata: Metadata = field(default_factory=Metadata)
    is_baseline: bool = False
    needs: "frozenset[Need]" = frozenset()  #: of a measure of the library; the needs of other submissions are not known
    source: str = LIBRARY  #: absolute path of the file or directory; of an installed measure, its name
    notes: tuple[str, ...] = ()  #: lines for its user on how it was read
    problem: str | None = None  #: reason why it cannot be run

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all paths and contents.

        For a measure of the library only the code counts: its records outlive a changed docstring.
        """
        files = {path: code_of(content) for path, content in self.files.items()} if self.is_baseline else self.files
        return digest_of(sorted(files.items()))

    @property
    def measure_file(self) -> str:
        """Where its user finds complexity.py: the path of the file, or of the zip, function or measure with it."""
        path = Path(self.source)
        if path.is_dir():
            return str(path / "complexity.py")
        return self.source if path.suffix == ".py" else f"{self.source}: complexity.py"


def write_files(files: Mapping[str, bytes], directory: Path) -> None:
    """Write files under `directory`, by their relative paths."""
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Fields of a syntax tree without any effect on the computation.
_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}


@functools.cache
def code_of(source: bytes) -> bytes:
    """Return a digest of Python code without comments, docstrings and layout; other content is returned unchanged.

    It is a digest of the syntax tree, and equal in every version of Python that reads the code: fields that a later
    version adds to a tree are empty in older code.
    """
    try:
        tree = json.dumps(_fields(ast.parse(source)), separators=(",", ":"))
    except SyntaxError:
        return source
    return hashlib.sha256(tree.encode()).digest()


def _fields(value: Any) -> Any:
    """Return a syntax tree as JSON, without empty fields."""
    if isinstance(value, ast.AST):
        fields = {name: child for name, child in ast.iter_fields(value) if name not in _IGNORED}
        if isinstance(value, _DOCUMENTED) and ast.get_docstring(value, clean=False) is not None:
            fields["body"] = value.body[1:]
        found = {name: _fields(child) for name, child in fields.items() if child is not None and child != []}
        return [type(value).__name__, found]
    return [_fields(one) for one in value] if isinstance(value, list) else repr(value)
