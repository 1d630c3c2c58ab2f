"""Leaves redundant measures out of boards: a measure and its logarithm, for example, order networks in the same way."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from harness.board.collect import Calls, Collected, RowKey


def ordered_alike(names: Collection[str]) -> dict[str, str]:
    """Map each redundant measure in `names` to another measure in `names` that always orders networks alike."""
    found: dict[str, str] = {}
    if len(names) < 2:
        return found
    from baselines import MEASURES  # here: a board of submissions alone needs no library

    for name in sorted(names):
        plain, colon, parameters = name.partition(":")
        measure = MEASURES.get(plain)  # None: the records may be of an unknown measure
        if measure is not None and (other := f"{measure.order}{colon}{parameters}") in names:
            found[name] = other
    return found


def shown_once(collected: Collected, keep: Collection[RowKey] = ()) -> tuple[Collected, list[str]]:
    """Return a board's calls without redundant measures, and a note on these measures, as a list of 0 or 1 lines.

    A measure is redundant if another measure with the same settings always orders networks in the same way. Rows in
    `keep` are never left out.
    """
    of_library = [calls for calls in collected.shown if calls.is_baseline]
    names = defaultdict[object, set[str]](set)
    for calls in of_library:
        names[_settings(calls)].add(calls.submission)
    same = {settings: ordered_alike(alike) for settings, alike in names.items()}
    left_out = {
        calls.row_key: calls
        for calls in of_library
        if calls.submission in same[_settings(calls)] and calls.row_key not in keep
    }
    shown = [calls for calls in collected.shown if calls.row_key not in left_out]
    told = {calls.submission: same[_settings(calls)][calls.submission] for calls in left_out.values()}
    return replace(collected, shown=shown, left_out=[*collected.left_out, *left_out.values()]), told_alike(told)


def told_alike(same: Mapping[str, str]) -> list[str]:
    """Return a note on the measures in `same` (redundant measure -> other measure), as a list of 0 or 1 lines."""
    told = ", ".join(f"{name} like {other}" for name, other in same.items())
    return [f"left out, because they order models like another measure: {told}."] if same else []


def _settings(calls: Calls) -> object:
    return None if calls.configuration is None else calls.configuration.settings
