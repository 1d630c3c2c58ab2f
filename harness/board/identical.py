"""Finds submissions that have different names, but the same files or the same values."""

from collections.abc import Hashable, Iterable, Sequence

from harness.board.collect import Calls, Cell, value_of
from scoring import Failure

MIN_DIFFERENT = 4  #: submissions with fewer different values are not compared, since their values may agree by chance


def same_files(shown: Sequence[Calls]) -> list[list[str]]:
    """Return groups of names of submissions that have the same files; measures of the library are left out."""
    return _groups((calls.submission, calls.version) for calls in shown if not calls.is_baseline)


def same_values(shown: Sequence[Calls]) -> list[list[str]]:
    """Return groups of names of submissions and measures that have the same result on every model.

    Groups that contain only measures, and groups with the same files, are left out.
    """
    submissions = {calls.submission for calls in shown if not calls.is_baseline}
    known = same_files(shown)
    results = [(one.submission, frozenset((cell, value_of(row)) for cell, row in one.rows.items())) for one in shown]
    groups = _groups((name, found) for name, found in results if _n_values(found) >= MIN_DIFFERENT)
    return [
        names for names in groups if submissions & set(names) and not any(set(names) <= set(files) for files in known)
    ]


def remarks_on(shown: Sequence[Calls]) -> list[str]:
    """Return a remark on each group of submissions with the same files or values, without facts about hidden models."""
    return [
        *(f"the same files under several names: {', '.join(names)}" for names in same_files(shown)),
        *(f"the same values on every model: {', '.join(names)}" for names in same_values(shown)),
    ]


def _n_values(results: Iterable[tuple[Cell, float | Failure]]) -> int:
    return len({value for _, value in results if not isinstance(value, Failure)})


def _groups(pairs: Iterable[tuple[str, Hashable]]) -> list[list[str]]:
    """Return sorted groups of two or more names with the same content, from pairs (name, content)."""
    names: dict[Hashable, set[str]] = {}
    for name, content in pairs:
        names.setdefault(content, set()).add(name)
    found = {tuple(sorted(group)) for group in names.values() if len(group) > 1}
    return [list(group) for group in sorted(found)]
