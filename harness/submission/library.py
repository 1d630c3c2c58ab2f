"""The library's measures as submissions, each with the files that it needs."""

import ast
import functools
from pathlib import Path

from harness.about import About
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.submission.name import MAX_NAME, is_specification
from harness.submission.submission import Metadata, Submission


def find_baseline(specification: str) -> Submission | None:
    """Return the baseline `name` or `name:parameter=value,...`, or None if no baseline has that name.

    Its name is the specification, with `True` for `true`. Raises `UserError` for an unknown parameter, or a value of
    another type than the default.
    """
    import baselines  # here: all measures are imported with it

    specification = baselines.canonical(specification)
    name, _, parameters = specification.partition(":")
    if name not in baselines.MEASURES:
        return None
    measure = baselines.MEASURES[name]
    try:
        baselines.load(specification)
    except ValueError as error:
        given = (part.partition("=")[0] for part in parameters.split(","))
        unknown = next((one for one in given if one not in measure.parameters), "")
        raise UserError(str(error), file=specification, remedy=did_you_mean(unknown, measure.parameters)) from error
    if not is_specification(specification):
        expected = f"at most {MAX_NAME} ASCII letters, digits and . + - _ : = ,"
        raise UserError("cannot be a name", file=specification, expected=expected)
    code = f"from baselines import load, share\n\nshare()\ncomplexity = load({specification!r})\n"
    files = _files_of(measure.function.__module__.split(".")[1]) | {"complexity.py": code.encode()}
    metadata = Metadata(specification, About(description=measure.meaning))
    return Submission(specification, files, metadata, is_baseline=True, needs=measure.needs)


@functools.cache
def _files_of(family: str) -> dict[str, bytes]:
    """Return the sources of a family's package, of the packages that it imports from, and of the shared packages."""
    from baselines.core.families import COMMON

    packages, waiting = set(), {family, *COMMON}
    while waiting:
        packages |= waiting
        waiting = {imported for package in waiting for imported in _imports(package)} - packages
    return {
        path: content
        for path, content in _library().items()
        if path == "baselines/__init__.py" or path.split("/")[1] in packages
    }


@functools.cache
def _imports(package: str) -> frozenset[str]:
    """Return the packages of the library from which a package's modules import."""
    found: set[str] = set()
    for path, content in _library().items():
        if path.startswith(f"baselines/{package}/"):
            for node in ast.walk(ast.parse(content)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
                found |= {name.split(".")[1] for name in names if name.startswith("baselines.")}
    return frozenset(found)


@functools.cache
def _library() -> dict[str, bytes]:
    """Return all sources of the library, read only once, so that all measures have the same version."""
    import baselines

    package = Path(baselines.__file__).parent
    sources = sorted(package.rglob("*.py"))
    return {f"baselines/{file.relative_to(package).as_posix()}": file.read_bytes() for file in sources}
