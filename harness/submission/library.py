"""Makes submissions from the library's measures, each with the files of the library that it imports."""

import ast
import functools
import re
from pathlib import Path

from harness.about import About
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.submission.name import MAX_NAME
from harness.submission.submission import Metadata, Submission

_SPECIFICATION = re.compile(rf"[A-Za-z0-9_.+:=,-]{{1,{MAX_NAME}}}")


def find_baseline(specification: str) -> Submission | None:
    """Return the library's measure `name` or `name:parameter=value,...` as a submission; None for an unknown name.

    The submission's name is the specification, with `True` in place of `true`. Raise `UserError` for an unknown
    parameter, for a value of another type than the parameter's default, or if a parameter is missing or given twice:
    the measure would be a second row of the board, under another name.
    """
    import baselines  # here, because it imports all measures

    specification = baselines.canonical(specification)
    name, colon, parameters = specification.partition(":")
    if name not in baselines.MEASURES:
        return None
    measure = baselines.MEASURES[name]
    given = [part.partition("=")[0] for part in parameters.split(",")] if colon else []
    if "" in given or len(set(given)) < len(given):
        raise UserError("parameters", file=specification, expected="NAME:PARAMETER=VALUE,... with each parameter once")
    try:
        baselines.load(specification)
    except ValueError as error:
        unknown = next((one for one in given if one not in measure.parameters), "")
        raise UserError(str(error), file=specification, remedy=did_you_mean(unknown, measure.parameters)) from error
    if not _SPECIFICATION.fullmatch(specification):
        expected = f"at most {MAX_NAME} ASCII letters, digits and . + - _ : = ,"
        raise UserError("cannot be a name", file=specification, expected=expected)
    code = f"from baselines import load, share\n\nshare()\ncomplexity = load({specification!r})\n"
    files = _files_of(measure.function.__module__.split(".")[1]) | {"complexity.py": code.encode()}
    metadata = Metadata(specification, About(description=measure.meaning))
    return Submission(specification, files, metadata, is_baseline=True, needs=measure.needs)


@functools.cache
def _files_of(family: str) -> dict[str, bytes]:
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
    """Return path -> source of the library's modules, read a single time so that all measures have the same version."""
    import baselines

    package = Path(baselines.__file__).parent
    sources = sorted(package.rglob("*.py"))
    return {f"baselines/{file.relative_to(package).as_posix()}": file.read_bytes() for file in sources}
