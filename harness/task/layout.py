"""Finds tasks and reference data in a directory, without reading any of them.

Two layouts are known, both the competition's own:

* full: DIR/input_data/TASK/{model_*,dataset_1} and DIR/reference_data/TASK/model_configs.json,
* flat: DIR/TASK/{model_*,dataset_1,model_configs.json}; DIR may itself be TASK.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError
from harness.task.files import did_you_mean, visible_directories

REFERENCE = "model_configs.json"


@dataclass(frozen=True)
class TaskFiles:
    """Where the parts of one task lie."""

    name: str
    directory: Path  #: holds the models' directories and dataset_1
    reference: Path | None  #: model_configs.json; hidden tasks have none

    @property
    def layout(self) -> str:
        """`full` or `flat`, see the module's docstring."""
        return "full" if self.directory.parent.name == "input_data" else "flat"

    @property
    def models(self) -> list[Path]:
        """The models' directories, model_2 before model_10."""
        return [path for path in visible_directories(self.directory) if "model" in path.name]

    @property
    def train(self) -> Path:
        """Directory of the training shards."""
        return self.directory / "dataset_1" / "train"

    @property
    def test(self) -> Path:
        """Directory of the test shards."""
        return self.directory / "dataset_1" / "test"


def find_tasks(root: Path, names: Sequence[str] = ()) -> list[TaskFiles]:
    """Find the tasks in `root`, in natural order; `names` keeps only these.

    Raises:
        UserError: `root` is no directory, holds no task, or a name is unknown.
    """
    _require_directory(root)
    tasks = {path.resolve().name: path for path in _task_directories(root)}
    if not tasks:
        only = ", ".join(_references(root))
        found = f"no models, only reference data of {only}" if only else "neither"
        raise UserError(
            "no task here", file=root, expected="TASK/model_* or input_data/TASK/model_*", found=found,
            remedy="name the directory that holds the tasks by --tasks DIR",
        )  # fmt: skip
    return [TaskFiles(name, tasks[name], _reference_of(tasks[name])) for name in _select(names, tasks, root)]


def find_references(root: Path, names: Sequence[str] = ()) -> dict[str, Path]:
    """Find reference data in `root`: task name -> its model_configs.json; `names` keeps only these.

    `root` holds TASK/model_configs.json or reference_data/TASK/model_configs.json, or model_configs.json itself.

    Raises:
        UserError: `root` is no directory, holds no reference data, or a name is unknown.
    """
    _require_directory(root)
    found = _references(root)
    if not found:
        raise UserError(
            "no reference data here", file=root, expected=f"TASK/{REFERENCE} or reference_data/TASK/{REFERENCE}",
            found="neither",
        )  # fmt: skip
    return {name: found[name] for name in _select(names, found, root)}


def _require_directory(root: Path) -> None:
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        remedy = "name the directory that holds the tasks by --tasks DIR"
        raise UserError("not a directory", file=root, expected="a directory", found=found, remedy=remedy)


def _task_directories(root: Path) -> list[Path]:
    if _looks_like_task(root):
        return [root]
    if (root / "input_data").is_dir():
        return visible_directories(root / "input_data")
    return [path for path in visible_directories(root) if _looks_like_task(path)]


def _looks_like_task(directory: Path) -> bool:
    return (directory / "dataset_1").is_dir() or bool(TaskFiles("", directory, None).models)


def _reference_of(task: Path) -> Path | None:
    """The task's own model_configs.json, or the one that the full layout keeps apart."""
    task = task.resolve() if task.name in ("", "..") else task
    holders = [task, task.parent / "reference_data" / task.name]
    if task.parent.name == "input_data":
        holders.append(task.parent.parent / "reference_data" / task.name)
    return next((holder / REFERENCE for holder in holders if (holder / REFERENCE).is_file()), None)


def _references(root: Path) -> dict[str, Path]:
    if (root / REFERENCE).is_file():
        return {root.resolve().name: root / REFERENCE}
    holders = [*visible_directories(root / "reference_data"), *visible_directories(root)]
    return {holder.name: holder / REFERENCE for holder in holders if (holder / REFERENCE).is_file()}


def _select(names: Sequence[str], known: Iterable[str], root: Path) -> list[str]:
    known = list(known)
    for name in names:
        if name not in known:
            raise UserError(
                f"no task {name!r}", file=root, expected=f"one of {', '.join(known)}",
                found=f"{name!r}, which has reference data but no models" if name in _references(root) else None,
                remedy=did_you_mean(name, known),
            )  # fmt: skip
    return [name for name in known if not names or name in names]
