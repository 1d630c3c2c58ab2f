"""Measures that order all networks alike, such as one and its logarithm, are shown once on boards and comparisons."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from harness.board.collect import Calls, Collected, RowKey


def ordered_alike(names: Collection[str]) -> dict[str, str]:
    """Return each measure that orders all networks as another of these names: name -> the other measure."""
    found: dict[str, str] = {}
    if len(names) < 2:
        return found
    from baselines import MEASURES  # here: a board of submissions alone needs no library

    for name in names:
        plain, colon, parameters = name.partition(":")
        measure = MEASURES.get(plain)  # records may be of a measure that is not here
        if measure is not None and (other := f"{measure.order}{colon}{parameters}") in names:
            found[name] = other
    return found


def shown_once(collected: Collected, keep: Collection[RowKey] = ()) -> tuple[Collected, list[str]]:
    """Leave out each measure that orders all networks as another measure does, in the same settings.

    Args:
        collected: the calls of a board.
        keep: row keys of calls that stay in any case.

    Returns:
        The calls of the rows that remain, and a remark that names the measures without a row, if there are any.
    """
    in_settings: dict[object, set[str]] = {}
    for calls in collected.shown:
        if calls.is_baseline:
            in_settings.setdefault(_settings(calls), set()).add(calls.submission)
    same = {settings: ordered_alike(names) for settings, names in in_settings.items()}
    left_out = [
        calls for calls in collected.shown
        if calls.is_baseline and calls.submission in same[_settings(calls)] and calls.row_key not in keep
    ]  # fmt: skip
    if not left_out:
        return collected, []
    names = {calls.row_key for calls in left_out}
    shown = [calls for calls in collected.shown if calls.row_key not in names]
    told = {calls.submission: same[_settings(calls)][calls.submission] for calls in left_out}
    return replace(collected, shown=shown, left_out=[*collected.left_out, *left_out]), told_alike(told)


def told_alike(same: Mapping[str, str]) -> list[str]:
    """Return the remark on the measures of `ordered_alike`, or no line if there are no such measures."""
    told = ", ".join(f"{name} as {other}" for name, other in same.items())
    return [f"order models alike, and are shown once: {told}."] if same else []


def _settings(calls: Calls) -> object:
    return None if calls.configuration is None else calls.configuration.settings
