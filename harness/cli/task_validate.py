"""`pgdl task validate`: finds all problems of tasks before anything runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import as_json, options
from harness.printing import say
from harness.text import counted

if TYPE_CHECKING:
    from harness.format.problems import InvalidTaskError
    from harness.format.reference import Reference
    from harness.task.layout import TaskFiles
    from harness.task.task import Task

    Outcome = Task | Reference | InvalidTaskError


@click.command("validate")
@options.directory
@options.tasks
@options.task
@as_json.option
@options.withhold
@click.pass_context
def command(
    ctx: click.Context, directory: Path | None, tasks_dir: Path, task_names: Sequence[str], form: str, withhold: str
) -> None:
    """Check the tasks in DIR and print every problem in one line.

    Exit code 2 if there is any. Valid tasks may have notes: what they can tell, or that the official score is not
    defined on them. A fetched task is compared with the digests of its fetch. Reference data without models is checked
    as well: it can be scored, but not run. Of hidden tasks only the number of problems is printed.
    """
    from harness.format.problems import InvalidTaskError
    from harness.task.contents import changed_since_fetched
    from harness.task.hidden import Withhold
    from harness.task.layout import TaskDirectory
    from harness.task.task import check_tasks

    everything = TaskDirectory(directory or tasks_dir).all(task_names)
    runnable = [files for files in everything if not files.reference_only]
    checked = {files.name: outcome for files, outcome in zip(runnable, check_tasks(runnable), strict=True)}
    outcomes = {files.name: checked.get(files.name) or _check_reference(files) for files in everything}
    reports = []
    for files in everything:
        outcome = outcomes[files.name]
        found = [*(outcome.problems if isinstance(outcome, InvalidTaskError) else ()), *changed_since_fetched(files)]
        problems = Withhold(withhold).problems(files, found)
        withheld = not found and Withhold(withhold).covers(files.hidden)
        notes = [] if problems or withheld else _notes(outcome)
        reports.append({"task": files.name, "valid": not problems, "problems": problems, "notes": notes})
        if form == "table":
            for problem in problems:
                say(problem)
            say(f"{files.name}: {_verdict(outcome, files, len(found), withheld=withheld)}")
            for line in notes:
                say(f"{files.name}: note: {line}")
    if form == "json":
        as_json.show(reports)
    ctx.exit(2 if any(report["problems"] for report in reports) else 0)


def _check_reference(files: "TaskFiles") -> "Outcome":
    """Return the outcome for reference data without models."""
    from harness.format.problems import InvalidTaskError, Problems
    from harness.format.reference import read_reference

    assert files.reference is not None
    problems = Problems()
    reference = problems.attempt(read_reference, files.reference)
    problems.attempt(lambda: files.hidden)
    return InvalidTaskError(problems.lines) if problems.lines or reference is None else reference


def _notes(outcome: "Outcome") -> list[str]:
    """Return notes on a valid task."""
    from harness.format.problems import InvalidTaskError
    from harness.task.notes import notes_of, notes_of_initial_weights, notes_of_reference, notes_of_resolution
    from harness.task.task import Task

    if isinstance(outcome, InvalidTaskError):
        return []
    if isinstance(outcome, Task):
        lines, reference = [*notes_of(outcome), *notes_of_initial_weights(outcome)], outcome.reference
    else:
        lines, reference = notes_of_reference(outcome), outcome
    return lines if reference is None else [*lines, *notes_of_resolution(reference)]


def _verdict(outcome: "Outcome", files: "TaskFiles", n_problems: int, *, withheld: bool) -> str:
    from harness.format.problems import InvalidTaskError
    from harness.task.notes import outputs_of
    from harness.task.task import Task

    if isinstance(outcome, InvalidTaskError) or n_problems:
        return f"{counted(n_problems, 'problem')}: invalid"
    reference = outcome.reference if isinstance(outcome, Task) else outcome
    more = [] if withheld else [f"{len(reference.grid.names) if reference else 'unknown'} hyperparameters"]
    if isinstance(outcome, Task):
        outputs = f"outputs are {outputs_of(outcome)}"
        samples = [] if withheld else [f"{outcome.data.n_samples} training samples", outputs]
        parts = [f"{len(outcome.models)} models", *more, *samples]
    else:
        parts = [f"reference data of {len(outcome.models)} models", *more, "no models to run"]
    if files.hidden:
        parts.append("hidden")
    return f"{', '.join(parts)}: valid"
