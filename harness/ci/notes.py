"""The notes of a report: facts that break no rule, but that whoever merges the change must know."""

from collections.abc import Sequence

from harness.ci.change import Change
from harness.task.task_notes import abbreviated


def notes_on(change: Change, folder: str, unknown: Sequence[str]) -> list[str]:
    """Return a line for each note on a change.

    `unknown`: submissions at the base that the change overwrites, and of which records are missing.
    """
    notes = []
    for name in change.diverged:
        done = "changed" if name in change.before else "removed"
        notes.append(
            f"{name}: the base has {done} it since the change branched off, so a merge may conflict, or give other "
            "files than those evaluated here; rebase the change, or merge the base into it"
        )
    if unknown:
        lacking = f"at the base, records of {abbreviated(unknown)} are missing or stale"
        notes.append(f"no ranks before the change: {lacking}; pgdl ci without --base makes them")
    if stray := [path for path in change.others if folder != "." and path.startswith(f"{folder}/")]:
        notes.append(f"no submissions, by their names: {abbreviated(stray)}; expected NAME.py, NAME.zip or a folder")
    return notes
