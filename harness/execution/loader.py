"""The digest of the harness' own code that loads a model and calls a submission: another code may give other values."""

import functools
from collections.abc import Iterator
from pathlib import Path

from harness.digest import digest_of
from harness.submission import code_of
from harness.worker.runtimes import RUNTIMES

_HARNESS = Path(__file__).parents[1]

#: What decides the values of calls: the worker, what rewrites and reads models and data, and what stages them. The rest
#: of the sandbox isolates and limits.
SOURCES = ("worker/**/*.py", "format/**/*.py", "sandbox/staging.py")


@functools.cache
def loader_digest(runtime: str) -> str:
    """Return the SHA-256 (hex) of the code that decides what a call in this runtime gets and returns."""
    files = sorted((file.relative_to(_HARNESS).as_posix(), file) for file in _sources(runtime))
    return digest_of((name, code_of(file.read_bytes())) for name, file in files)


def _sources(runtime: str) -> Iterator[Path]:
    """Yield the files, without the runtimes that this one does not derive from."""
    every = {_module(type(one)) for one in RUNTIMES.values()}
    foreign = every - {_module(kind) for kind in type(RUNTIMES[runtime]).__mro__}
    for pattern in SOURCES:
        yield from (file for file in _HARNESS.glob(pattern) if f"harness.{_dotted(file)}" not in foreign)


def _module(kind: type) -> str:
    return kind.__module__


def _dotted(file: Path) -> str:
    return ".".join(file.relative_to(_HARNESS).with_suffix("").parts)
