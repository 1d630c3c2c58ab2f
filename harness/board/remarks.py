"""Remarks below a board, for instance on records of earlier versions of a task, or on unusual settings."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from harness.board.collect import Calls, Cell, Collected, value_of
from harness.configuration import GIB, Configuration
from harness.names import alike
from harness.task.task_notes import abbreviated
from harness.text import exact
from harness.worker.runtimes import DEFAULT
from scoring import Failure

#: Kind of `find_same` -> words for a remark.
SAME = {"files": "files under several names", "values": "values on every model"}

#: Precedes the command line in a remark on stale records.
RENEWAL = "; to renew them: "

MIN_DIFFERENT = 4  #: submissions with fewer different values are not compared, since their values may agree by chance


def remarks_on_records(collected: Collected, command: Callable[[Sequence[Calls]], str]) -> list[str]:
    """Return remarks on the records of a board. `command` returns the command line that makes outdated calls again."""
    return [
        *_stale(collected.shown, command),
        *_left_out(collected),
        *_similar(collected.shown),
        *(f"the same {SAME[what]}: {', '.join(names)}" for what, names in find_same(collected.shown)),
        *_versions(collected.shown),
    ]


def without_commands(remarks: Iterable[str]) -> list[str]:
    """Return remarks without command lines, which contain paths of submissions, tasks and databases."""
    return [line.partition(RENEWAL)[0] for line in remarks]


def _stale(shown: Sequence[Calls], command: Callable[[Sequence[Calls]], str]) -> list[str]:
    """Return a remark for each group of submissions whose outdated records a single command can renew.

    The submissions of a group have the same settings and kind of source, equal numbers of outdated records on each
    task, and names that cannot be confused with each other.
    """
    lost: dict[tuple[Any, ...], list[Calls]] = {}
    turns: Counter[tuple[Any, ...]] = Counter()
    for calls in shown:
        if calls.stale:
            settings = calls.configuration.settings if calls.configuration else None
            per_task = tuple(sorted(Counter(task for task, _ in calls.stale).items()))
            name = calls.submission if calls.is_baseline else alike(calls.submission)
            origin = calls.is_function, calls.is_in_repository
            turn = turns[per_task, settings, name]
            turns[per_task, settings, name] += 1
            lost.setdefault((per_task, settings, turn, origin), []).append(calls)
    lines = []
    for (per_task, *_), all_calls in lost.items():
        counts = ", ".join(f"{number} on {task}" for task, number in per_task)
        names = ", ".join(sorted({calls.submission for calls in all_calls}))
        lines.append(
            f"stale: records of {names} ({counts}) were made with an earlier version of the task and do not count"
            f"{RENEWAL}{command(all_calls)}"
        )
    return lines


def _left_out(collected: Collected) -> list[str]:
    lines, known = [], dict[str, set[str]]()
    for other in collected.left_out:
        known.setdefault(other.submission, set()).add(other.version)
    for calls in collected.shown:
        versions = known.get(calls.submission, set()) - {calls.version}
        if not versions or calls.is_baseline:
            continue
        when = f" {calls.requested_at:%Y-%m-%d %H:%M} UTC" if calls.requested_at else ""
        line = f"{calls.submission}: version {calls.version[:8]}, most recently requested{when}; not shown: "
        lines.append(line + abbreviated(sorted(version[:8] for version in versions)))
    return list(dict.fromkeys(lines))


def _similar(shown: Sequence[Calls]) -> list[str]:
    groups: dict[str, set[str]] = {}
    for calls in shown:
        if not calls.is_baseline:
            groups.setdefault(alike(calls.submission), set()).add(calls.submission)
    return [
        f"names that could be mistaken for each other: {', '.join(sorted(names))}"
        for names in groups.values() if len(names) > 1
    ]  # fmt: skip


def find_same(shown: Sequence[Calls]) -> list[tuple[str, tuple[str, ...]]]:
    """Return groups of names that seem to be the same submission, as pairs (`files` or `values`, names).

    Submissions of a group `files` have the same files; measures of the library are left out. Submissions of a group
    `values` have the same result on every model; groups of measures only, or with the same files, are left out.
    """
    submissions = {calls.submission for calls in shown if not calls.is_baseline}
    files = _groups((calls.submission, calls.version) for calls in shown if not calls.is_baseline)
    results = [(one.submission, frozenset((cell, value_of(row)) for cell, row in one.rows.items())) for one in shown]
    values = _groups((name, found) for name, found in results if _n_values(found) >= MIN_DIFFERENT)
    others = [
        names for names in values if submissions & set(names) and not any(set(names) <= set(one) for one in files)
    ]
    return [*(("files", names) for names in files), *(("values", names) for names in others)]


def _n_values(results: Iterable[tuple[Cell, float | Failure]]) -> int:
    return len({value for _, value in results if not isinstance(value, Failure)})


def _groups(pairs: Iterable[tuple[str, Hashable]]) -> list[tuple[str, ...]]:
    """Return sorted groups of two or more names with the same content, from pairs (name, content)."""
    names: dict[Hashable, set[str]] = {}
    for name, content in pairs:
        names.setdefault(content, set()).add(name)
    return sorted({tuple(sorted(group)) for group in names.values() if len(group) > 1})


def _versions(shown: Sequence[Calls]) -> list[str]:
    """Return a remark for each set of library and harness versions, except for the most frequent set per runtime."""
    known = [(calls.submission, calls.configuration) for calls in shown if calls.configuration is not None]
    by_runtime: dict[str, Counter[str]] = {}
    for _, configuration in known:
        by_runtime.setdefault(configuration.runtime, Counter())[configuration.software] += 1
    odd: dict[str, list[str]] = {}
    for submission, configuration in known:
        if configuration.software != by_runtime[configuration.runtime].most_common(1)[0][0]:
            odd.setdefault(configuration.software, []).append(submission)
    return [
        f"made with other versions than most rows ({software}): {abbreviated(list(dict.fromkeys(names)))}"
        for software, names in odd.items()
    ]


def settings_labels(shown: Sequence[Calls]) -> list[str]:
    """Return for each row its unusual settings as text, such as `seed 1`; "" if it has the settings of most rows.

    If rows of a submission have the same settings, the text also names the version; if the versions are equal, too,
    the text names the configuration.
    """
    found = [calls.configuration.settings for calls in shown if calls.configuration is not None]
    if not found:
        return [""] * len(shown)
    counted = Counter(found)
    usual = min(counted, key=lambda settings: (-counted[settings], settings.run_seed, settings.runtime != DEFAULT))
    labels = [_difference(calls.configuration, usual) if calls.configuration else "" for calls in shown]
    labels = _told_apart(shown, labels, [f"version {calls.version[:8]}" for calls in shown])
    return _told_apart(shown, labels, [f"configuration {calls.recorded_configuration}" for calls in shown])


def _told_apart(shown: Sequence[Calls], labels: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the labels of rows; if rows of a submission have equal labels but different `texts`, append each text."""
    keys = [(calls.submission, calls.sandboxed, label) for calls, label in zip(shown, labels, strict=True)]
    texts_of: dict[tuple[str, bool, str], set[str]] = {}
    for key, text in zip(keys, texts, strict=True):
        texts_of.setdefault(key, set()).add(text)
    return [
        ", ".join(filter(None, (label, text))) if len(texts_of[key]) > 1 else label
        for key, label, text in zip(keys, labels, texts, strict=True)
    ]


def _difference(settings: Configuration, usual: Configuration) -> str:
    labels = {
        "run_seed": f"seed {settings.run_seed}",
        "runtime": f"runtime {settings.runtime}",
        "time_limit_s": f"limit {exact(settings.time_limit_s)} s",
        "time_budget": f"budget {settings.time_budget}",
        "memory_limit_bytes": f"memory {exact(settings.memory_limit_bytes / GIB)} GiB",
        "isolation": f"sandbox {settings.isolation}",
    }
    if not settings.is_sandboxed:  # the row is already marked as not sandboxed
        del labels["isolation"]
    return ", ".join(label for name, label in labels.items() if getattr(settings, name) != getattr(usual, name))
