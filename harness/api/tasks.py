"""The functions `pgdl.show_tasks` and `hide_task`: describe finished and unfinished tasks, and mark tasks as hidden."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.errors import UserError, writing
from harness.format.layout import BUILDING
from harness.format.mark import write_mark
from harness.format.reference import Reference, read_reference
from harness.task import DEFAULT_DIRECTORY
from harness.task.contents import count_test_samples, origin_of
from harness.task.data import read_training_data
from harness.task.hidden import REMEDY, Withhold
from harness.task.layout import TaskDirectory, TaskFiles, command_to_continue, unfinished_tasks
from harness.task.summary import architectures, gap_error, gaps_by_value, summarise
from harness.task.task import read_tasks


def show_tasks(
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    withhold: str = Withhold.AUTO.value,
    html: str | Path | None = None,
) -> list[dict[str, Any]]:
    """Return a JSON object for each task: models, data, and the gaps for each value of each hyperparameter.

    For a task whose models are still being trained, the object has only name, layout and directory; for a hidden task,
    also the number of models.

    Args:
        tasks_dir: directory of tasks, or of a single task.
        html: file for a page of the finished tasks that are not hidden.

    Raises:
        UserError: there is no such task, a file of it is invalid, or no task can be shown on the page `html`.
    """
    root, chosen = Path(tasks_dir), Withhold(withhold)
    unfinished = unfinished_tasks(root)
    found = TaskDirectory(root).all(task_names, unfinished)
    builds = [name for name in unfinished if not task_names or name in task_names]
    page = None if html is None else _for_page(root, found, chosen, Path(html), has_builds=bool(builds))
    content = [_describe(files, chosen) for files in found]
    content += [{"task": name, "layout": "not finished", "directory": str(root / BUILDING / name)} for name in builds]
    if page is not None and html is not None:
        from harness.task.page import write_page  # here: the import loads matplotlib

        tasks = read_tasks(page)
        with writing(html):
            write_page(tasks, Path(html))
    return content


def hide_task(task_name: str, tasks_dir: str | Path = DEFAULT_DIRECTORY) -> Path | None:
    """Mark a task as hidden, and return the file of the mark; None if the task is hidden already.

    Raises:
        UserError: there is no such task, its present mark is invalid, or the mark cannot be written.
    """
    (files,) = TaskDirectory(Path(tasks_dir)).all([task_name])
    return None if files.hidden else write_mark(files.directory if files.reference is None else files.reference.parent)


def _for_page(
    root: Path, found: list[TaskFiles], withhold: Withhold, html: Path, *, has_builds: bool
) -> list[TaskFiles]:
    whole = [files for files in found if not files.reference_only]
    if not whole:
        kinds = ["reference data"] * bool(found) + ["tasks that are not finished"] * has_builds
        remedy = f"continue with: {command_to_continue(root)}" if has_builds else "leave out --html"
        only = f"only {' and '.join(kinds)}"
        raise UserError("nothing to write", file=html, expected="a task with models", found=only, remedy=remedy)
    shown = [files for files in whole if not withhold.covers(files.hidden)]
    if not shown:
        raise UserError("nothing to write: all tasks are withheld", file=html, remedy=REMEDY)
    return shown


def _describe(files: TaskFiles, withhold: Withhold) -> dict[str, Any]:
    content: dict[str, Any] = asdict(summarise(files, withhold)) | {"directory": str(files.directory)}
    if content["withheld"]:
        return content
    if not files.reference_only:
        data = read_training_data(files.train)
        content["training_data"] = {
            "samples": data.n_samples, "input_shape": data.input_shape, "classes": data.n_classes,
            "digest": data.digest,
        }  # fmt: skip
        content["architectures"] = asdict(architectures(files))
    if (origin := origin_of(files)) is not None:
        content["fetched"] = {key: value for key, value in asdict(origin).items() if key != "files"}
    if files.reference is not None:
        content |= _gaps(read_reference(files.reference), count_test_samples(files.test))
    return content


def _gaps(reference: Reference, n_test: int | None) -> dict[str, Any]:
    content: dict[str, Any] = {"gaps_by_value": [asdict(one) for one in gaps_by_value(reference) if one.models]}
    if n_test is not None:
        content["gap_error"] = asdict(gap_error(n_test, reference))
    return content
