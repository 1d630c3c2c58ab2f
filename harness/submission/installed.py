"""Finds the measures that other installed packages announce by entry points.

The harness imports nothing from such a package. A sandbox imports the measure by name, like a participant's submission.
"""

import functools
import re
import site
from collections import Counter
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

from harness.about import About
from harness.digest import digest_of
from harness.errors import UserError, writing
from harness.submission.name import is_name, taken
from harness.submission.submission import Metadata, Submission

#: The group of the entry points. The value of an entry point is `package.module:function`.
GROUP = "pgdl.measures"

_VALUE = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<function>[A-Za-z_]\w*)", re.ASCII)


@dataclass(frozen=True)
class InstalledMeasure:
    """A measure that an installed distribution announces."""

    name: str
    value: str  #: package.module:function
    origin: str  #: name and version of the distribution
    summary: str
    distribution: metadata.Distribution = field(repr=False, compare=False)
    problem: str | None = None  #: reason why the measure cannot be run


@functools.cache
def installed_measures() -> tuple[InstalledMeasure, ...]:
    """Return the measures that installed distributions announce, sorted by name."""
    found = [_read(entry, entry.dist) for entry in metadata.entry_points(group=GROUP) if entry.dist is not None]
    times = Counter(measure.name for measure in found)
    twice = "a second installed package announces a measure of that name"
    named = (replace(one, problem=one.problem or twice) if times[one.name] > 1 else one for one in found)
    return tuple(sorted(named, key=lambda one: (one.name, one.origin)))


def find_installed(name: str) -> Submission | None:
    """Return the installed measure `name` as a submission; None if unknown. Raise `UserError` if it cannot be run."""
    measure = next((one for one in installed_measures() if one.name == name), None)
    if measure is None:
        return None
    if measure.problem is not None:
        raise UserError(f"{measure.problem}", file=f"{name} of {measure.origin}")
    module, _, function = measure.value.partition(":")
    digest = digest_of((str(file), _content(file)) for file in _files(measure.distribution, module))
    code = (
        f"# Of {measure.origin}; SHA-256 of its files that belong to {module.partition('.')[0]}: {digest}\n"
        f"import {module}\n\ncomplexity = {module}.{function}\n"
    )
    about = Metadata(name, About.from_texts("", measure.summary, ""))
    return Submission(name, {"complexity.py": code.encode()}, about, source=name)


def _read(entry: metadata.EntryPoint, distribution: metadata.Distribution) -> InstalledMeasure:
    about = distribution.metadata
    texts = f"{about['Name']} {distribution.version}", *(about.get_all("Summary") or [""])[:1], entry.name, entry.value
    origin, summary, name, value = ("".join(filter(str.isprintable, text)) for text in texts)
    problem = _problem(entry, distribution)
    return InstalledMeasure(name, value, origin, summary, distribution, problem)


def _problem(entry: metadata.EntryPoint, distribution: metadata.Distribution) -> str | None:
    if not is_name(entry.name):
        return "cannot be a name"
    if whose := taken(entry.name):
        return f"cannot have this name: {whose}"
    value = _VALUE.fullmatch(entry.value)
    if value is None:
        return f"expected package.module:function, found {entry.value!r}"
    place = Path(str(distribution.locate_file(""))).resolve()
    if place not in {Path(path).resolve() for path in site.getsitepackages()}:
        return f"lies in {place}, where no sandbox looks for packages; install it beside the harness"
    module = value["module"].replace(".", "/")
    files = (file.as_posix().partition(".")[0] for file in _files(distribution, value["module"]))
    if not {module, f"{module}/__init__"} & set(files):
        return f"no module {value['module']} is installed with it; a module in editable mode is in no sandbox"
    return None


def _files(distribution: metadata.Distribution, module: str) -> list[metadata.PackagePath]:
    """Return a distribution's files in the top-level package of `module`, without compiled files."""
    top = module.partition(".")[0]
    files = distribution.files or ()
    return sorted(file for file in files if file.parts[0].partition(".")[0] == top and file.suffix != ".pyc")


def _content(file: metadata.PackagePath) -> bytes:
    path = Path(str(file.locate()))
    with writing(path, problem="cannot be read", remedy="install it again"):
        return path.read_bytes()
