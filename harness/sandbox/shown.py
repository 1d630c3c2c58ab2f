"""Which files of this machine every submission can read, beside its own and what is staged for it."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from harness.errors import UserError
from harness.sandbox import bubblewrap, landlock
from harness.sandbox.isolation import Isolation


def shown_places(isolation: Isolation) -> frozenset[Path]:
    """The places that a sandbox of this kind shows read-only, links resolved; a container shows those of its image."""
    if isolation is Isolation.BUBBLEWRAP:
        options, _ = bubblewrap.trial()
        shown = [source for word, source in pairwise(options) if word.startswith(("--ro-bind", "--bind", "--dev-bind"))]
    elif isolation is Isolation.LANDLOCK:
        shown = [*landlock.SYSTEM, *landlock.SETTINGS, *map(str, landlock.interpreter())]
    else:
        shown = []
    return frozenset(path.resolve() for path in map(Path, shown) if path.exists())


def require_unseen(paths: Iterable[Path], isolation: Isolation) -> None:
    """Raise `UserError` if a submission in a sandbox of this kind could read one of `paths`."""
    places = shown_places(isolation)
    for path in paths:
        inside = next((place for place in places if path.resolve().is_relative_to(place)), None)
        if inside is not None:
            what = f"submissions could read it: every sandbox shows {inside}"
            raise UserError(what, file=path, remedy="move it to a place outside")
