"""Remarks on a board's rows: records that do not count, and the versions and settings shown."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from harness.board import identical
from harness.board.collect import Calls, Collected
from harness.configuration import GIB, Configuration
from harness.format.reference import Reference
from harness.names import FUNCTION, alike
from harness.task.task_notes import abbreviated
from harness.text import exact
from harness.worker.runtimes import DEFAULT


def remarks_on_records(
    collected: Collected, references: Mapping[str, Reference], command: Callable[[Sequence[Calls]], str]
) -> list[str]:
    """Return the remarks; `command` renders the command line that repeats calls."""
    return [
        *_stale(collected.shown, command),
        *_left_out(collected, references),
        *_similar(collected.shown),
        *identical.remarks_on(collected.shown),
        *_versions(collected.shown),
    ]


def _stale(shown: Sequence[Calls], command: Callable[[Sequence[Calls]], str]) -> list[str]:
    """Return one line for all submissions that lost the same records, as after a task was rebuilt.

    A single command, which names all submissions, renews the records only if they share their settings, and if no two
    names could be mistaken for each other.
    """
    lost: dict[tuple[Any, ...], list[Calls]] = {}
    turns: Counter[tuple[Any, ...]] = Counter()
    for calls in shown:
        if calls.stale:
            settings = calls.configuration.settings if calls.configuration else None
            per_task = tuple(sorted(Counter(task for task, _ in calls.stale).items()))
            name = calls.submission if calls.is_baseline else alike(calls.submission)
            is_function = calls.source.startswith(FUNCTION)  # no command can call it
            turn = turns[per_task, settings, name]
            turns[per_task, settings, name] += 1
            lost.setdefault((per_task, settings, turn, is_function), []).append(calls)
    lines = []
    for (per_task, *_), all_calls in lost.items():
        counts = ", ".join(f"{number} on {task}" for task, number in per_task)
        names = ", ".join(sorted({calls.submission for calls in all_calls}))
        lines.append(
            f"stale: records of {names} ({counts}) are of other models or data than the present ones and do not count; "
            f"to renew them: {command(all_calls)}"
        )
    return lines


def _left_out(collected: Collected, references: Mapping[str, Reference]) -> list[str]:
    """Return a line for each submission with several versions: the shown version, and tasks of others alone."""
    lines, known = [], dict[str, set[str]]()
    for other in collected.left_out:
        known.setdefault(other.submission, set()).add(other.version)
    for calls in collected.shown:
        versions = known.get(calls.submission, set()) - {calls.version}
        if not versions or calls.is_baseline:
            continue
        line = f"{calls.submission}: version {calls.version[:8]}, most recently requested{_when(calls)}; not shown: "
        line += abbreviated(sorted(version[:8] for version in versions))
        tried = {task for task, _ in calls.rows}
        ran_on = collected.ran_on.get(calls.submission, ())
        missing = [task for task in references if task in ran_on and task not in tried]
        lines.append(f"{line}, which ran on {', '.join(missing)} where this one did not" if missing else line)
    return list(dict.fromkeys(lines))


def _when(calls: Calls) -> str:
    return f" {calls.requested_at:%Y-%m-%d %H:%M} UTC" if calls.requested_at else ""


def _similar(shown: Sequence[Calls]) -> list[str]:
    """Return a line for each group of names that could be mistaken for each other, as in merged records."""
    groups: dict[str, set[str]] = {}
    for calls in shown:
        if not calls.is_baseline:
            groups.setdefault(alike(calls.submission), set()).add(calls.submission)
    return [
        f"names that could be mistaken for each other: {', '.join(sorted(names))}"
        for names in groups.values() if len(names) > 1
    ]  # fmt: skip


def _versions(shown: Sequence[Calls]) -> list[str]:
    """Return lines on rows with other versions of the harness or its libraries than most rows."""
    by_runtime: dict[str, Counter[str]] = {}
    for calls in shown:
        if calls.configuration is not None:
            by_runtime.setdefault(calls.configuration.runtime, Counter())[calls.configuration.software] += 1
    odd: dict[str, list[str]] = {}
    for calls in shown:
        if calls.configuration is not None:
            software = calls.configuration.software
            if software != by_runtime[calls.configuration.runtime].most_common(1)[0][0]:
                odd.setdefault(software, []).append(calls.submission)
    return [
        f"made with other versions than most rows ({software}): {abbreviated(names)}" for software, names in odd.items()
    ]


def settings_labels(shown: Sequence[Calls]) -> list[str]:
    """Return a label for each row with the settings in which it differs from most rows; empty if it does not differ."""
    found = [calls.configuration.settings for calls in shown if calls.configuration is not None]
    if not found:
        return [""] * len(shown)
    counted = Counter(found)
    usual = min(counted, key=lambda settings: (-counted[settings], settings.run_seed, settings.runtime != DEFAULT))
    return [_difference(calls.configuration, usual) if calls.configuration else "" for calls in shown]


def _difference(settings: Configuration, usual: Configuration) -> str:
    labels = {
        "run_seed": f"seed {settings.run_seed}",
        "runtime": f"runtime {settings.runtime}",
        "time_limit_s": f"limit {exact(settings.time_limit_s)} s",
        "time_budget": f"budget {settings.time_budget}",
        "memory_limit_bytes": f"memory {exact(settings.memory_limit_bytes / GIB)} GiB",
        "isolation": f"sandbox {settings.isolation}",
    }
    names = [field.name for field in fields(Configuration) if field.name in labels]
    differing = [name for name in names if getattr(settings, name) != getattr(usual, name)]
    if not settings.is_sandboxed:  # the row already has a mark
        differing = [name for name in differing if name != "isolation"]
    return ", ".join(labels[name] for name in differing)
