"""Finds the tasks in a directory, and tells which of them are hidden or incomplete.

A task with models has one of two layouts, both from the competition:

* full: DIR/input_data/TASK/{model_*,dataset_1} and DIR/reference_data/TASK/model_configs.json,
* flat: DIR/TASK/{model_*,dataset_1,model_configs.json}; DIR may itself be TASK.

A file `metadata` in the directory of model_configs.json may mark the task as hidden (harness/format/mark.py).

A task is half-fetched if `pgdl task fetch` has not downloaded all its files. A task is unfinished if `pgdl task build`
has not trained all its models.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError, require_directory
from harness.format.fetched import FETCHING, RECORD
from harness.format.files import visible_directories
from harness.format.layout import BUILDING, INPUTS, REFERENCE, REFERENCES, TEST, TRAIN
from harness.format.mark import find_marks, is_hidden
from harness.hints import did_you_mean
from harness.names import as_names
from harness.reading import own_path
from harness.shell import typed
from harness.task import DEFAULT_DIRECTORY
from harness.text import is_line

#: Name of the file with the digest of a built task's recipe, beside its reference data.
RECIPE_DIGEST = "recipe.sha256"

_REMEDY = "name the directory of the tasks with --tasks DIR"


@dataclass(frozen=True)
class TaskFiles:
    """The paths of a task's files and directories."""

    name: str
    directory: Path  #: contains the models' directories and dataset_1
    reference: Path | None  #: model_configs.json; None for a task without reference data
    reference_only: bool = False  #: whether the models are missing, so that the task can be scored but not run
    marks: tuple[Path, ...] = ()  #: the files `metadata` that may mark the task as hidden

    @property
    def layout(self) -> str:
        """Name of the layout: `full`, `flat`, or `reference only`."""
        if self.reference_only:
            return "reference only"
        return "full" if self.directory.absolute().parent.name == INPUTS else "flat"

    @property
    def hidden(self) -> bool:
        """Whether the task is marked as hidden; raises `UserError` if the file `metadata` is invalid."""
        return is_hidden(self.marks)

    @property
    def models(self) -> list[Path]:
        """The models' directories in natural order: model_2 before model_10."""
        return [path for path in visible_directories(self.directory) if "model" in path.name]

    @property
    def train(self) -> Path:
        """Directory of the training shards."""
        return self.directory / TRAIN

    @property
    def test(self) -> Path:
        """Directory of the test shards."""
        return self.directory / TEST


class TaskDirectory:
    """The tasks in a directory.

    Attributes:
        root: the directory.
        tasks: tasks with models, then tasks with only reference data; both in natural order.
    """

    def __init__(self, root: Path, remedy: str = _REMEDY) -> None:
        """Find the tasks in `root`; raises `UserError`, which ends with `remedy`, if `root` is no directory."""
        demo = ", or create a task to try with `pgdl demo`" if str(root) == DEFAULT_DIRECTORY else ""
        require_directory(root, remedy=remedy + demo)
        self.root = root
        self._remedy = remedy
        here = root.absolute()
        self._is_task = here.parent.name == INPUTS
        self._half = half_fetched(here.parent.parent if self._is_task else here.parent if here.name == INPUTS else root)
        self._builds = unfinished_tasks(root)
        # a link has its own name: two links may lead to tasks of one name
        tasks = {own_path(path).name: path for path in _task_directories(root)}
        self.tasks = []
        for name, path in tasks.items():
            places = _reference_directories(path)
            marks = find_marks(places)  # before the reference data: the error is clearer
            reference = next((place / REFERENCE for place in places if _exists(place / REFERENCE)), None)
            self.tasks.append(TaskFiles(name, path, reference, marks=marks))
        self.tasks += [
            TaskFiles(name, path.parent, path, reference_only=True, marks=find_marks([path.parent]))
            for name, path in _references(root).items()
            if name not in tasks
        ]

    def runnable(self, names: Sequence[str] = ()) -> list[TaskFiles]:
        """Return the tasks in `names`, which must have models; by default, all tasks with models.

        Raises `UserError` if no task has models, a name is unknown, or a requested task is half-fetched.
        """
        names = as_names(names)
        tasks = [task for task in self._whole(names) if not task.reference_only]
        if not tasks:
            raise self._no_task_error([task.name for task in self.tasks])
        return self._named(names, tasks)

    def all(self, names: Sequence[str] = (), unfinished: Sequence[str] = ()) -> list[TaskFiles]:
        """Return the tasks in `names`, by default all, with or without models.

        Raises `UserError` if no task exists, a name is unknown, or a requested task is half-fetched. `unfinished` has
        names of tasks whose models are in training: they are valid in `names`, but these tasks are not returned.
        """
        names = as_names(names)
        return self._named(names, self._whole(names, unfinished), unfinished)

    def present(self, names: Collection[str]) -> list[TaskFiles]:
        """Return the existing tasks in `names`; raises `UserError` if any is half-fetched, or no task exists."""
        return [task for task in self._whole(names) if task.name in names]

    def references(self, names: Sequence[str] = ()) -> dict[str, Path]:
        """Return name -> path of model_configs.json, for the tasks in `names`, by default all with reference data.

        Raises `UserError` if no task has reference data, a name is unknown or cannot be recorded, or a requested task
        is half-fetched.
        """
        names = as_names(names)
        tasks = [task for task in self._whole(names) if task.reference is not None]
        if not tasks:
            expected = f"TASK/{REFERENCE} or {REFERENCES}/TASK/{REFERENCE}"
            raise UserError("no reference data here", file=self.root, expected=expected, found="neither")
        found = {task.name: task.reference for task in self._named(names, tasks) if task.reference is not None}
        for name, reference in found.items():
            require_recordable(name, reference.parent)
        return found

    def _whole(self, names: Collection[str], unfinished: Sequence[str] = ()) -> list[TaskFiles]:
        """Return all tasks.

        Raise `UserError` if a task in `names` (by default, any task) is half-fetched, or if the directory has neither a
        task nor a task in `unfinished`.
        """
        wanted = names or ([self.root.absolute().name] if self._is_task else self._half)
        if meant := [name for name in self._half if name in wanted]:
            others = "" if names or self._is_task else ", or name other tasks with --task"
            remedy = f"repeat the command that began to fetch it{others}"
            raise UserError(f"half-fetched: {', '.join(meant)}", file=self.root, remedy=remedy)
        if not self.tasks and not unfinished:
            raise self._no_task_error()
        return self.tasks

    def _no_task_error(self, references: Sequence[str] = ()) -> UserError:
        """Return the error for a directory without runnable tasks; `references` are names of tasks without models."""
        builds = self._builds
        parts = [f"reference data, of {', '.join(references)}"] if references else []
        parts += [f"tasks that pgdl task build has not finished: {', '.join(builds)}"] if builds else []
        found = f"only {', and '.join(parts)}" if parts else "neither"
        expected = f"TASK/model_* or {INPUTS}/TASK/model_*"
        remedy = f"continue with: {command_to_continue(self.root)}" if builds else self._remedy
        return UserError("no task here", file=self.root, expected=expected, found=found, remedy=remedy)

    def _named(self, names: Sequence[str], tasks: list[TaskFiles], unfinished: Sequence[str] = ()) -> list[TaskFiles]:
        """Return the `tasks` whose names are in `names`, by default all; raises `UserError` if a name is unknown."""
        known = [*unfinished, *(task.name for task in tasks)]
        for name in (name for name in names if name not in known):
            if name in self._builds:
                remedy = f"continue with: {command_to_continue(self.root)}"
                raise UserError(f"task {name!r} is not finished", file=self.root, remedy=remedy)
            is_reference = any(task.name == name and task.reference_only for task in self.tasks)
            found = "reference data without models" if is_reference else None
            expected, hint = f"one of {', '.join(known)}", did_you_mean(name, known)
            raise UserError(f"no task {name!r}", file=self.root, expected=expected, found=found, remedy=hint)
        return [task for task in tasks if not names or task.name in names]


def require_recordable(name: str, directory: Path) -> None:
    """Raise `UserError` if records refuse `name`, the name of a task or model in a directory."""
    if not is_line(name):
        raise UserError("cannot be recorded", file=directory, expected="a name without control characters")


def half_fetched(root: Path) -> list[str]:
    """Return the names of the half-fetched tasks in a directory."""
    return [
        staged.name
        for staged in sorted((root / FETCHING).glob("*/"))
        if (staged / RECORD).exists() or not (root / INPUTS / staged.name).exists()
    ]


def unfinished_tasks(root: Path) -> list[str]:
    """Return the names of the unfinished tasks in a directory."""
    return [directory.name for directory in visible_directories(root / BUILDING)]


def command_to_continue(root: Path) -> str:
    """Return the command that continues an unfinished task in a directory; the word RECIPE stands for its recipe."""
    return typed("pgdl", "task", "build", "RECIPE", "--output", str(root))


def advice_on_damage(reference: Path | None) -> list[str]:
    """Return a line on how to mend a task that `pgdl task build` has made; [] for other tasks.

    `reference` is the file of the task's reference data.
    """
    if reference is None or not (reference.parent / RECIPE_DIGEST).exists():
        return []
    task, root = reference.parent.name, reference.parent.parent.parent
    remedy = f"remove damaged directories (models, dataset_1); {command_to_continue(root)} makes them anew"
    return [f"{task} was built from a recipe: {remedy}"]


def is_absent_default(root: Path) -> bool:
    """Whether `root` is the default directory of tasks and does not exist."""
    return str(root) == DEFAULT_DIRECTORY and not _exists(root)


def require_no_flat_tasks(root: Path) -> None:
    """Raise `UserError` if `root` has tasks in the flat layout: a task in the full layout would make them invisible."""
    if not (root / INPUTS).is_dir() and (flat := _task_directories(root)):
        found = f"{', '.join(path.name for path in flat)} in the flat layout, which {INPUTS} would hide"
        raise UserError("cannot take another task", file=root, expected=f"no tasks, or {INPUTS}/TASK", found=found,
                        remedy="name another directory")  # fmt: skip


def require_same_disk(root: Path, *places: Path) -> None:
    """Raise `UserError` if a place for tasks in `root`, such as input_data, is a link to another disk.

    A new task could not be moved there in one step.
    """
    for place in places:
        if place.exists() and place.stat().st_dev != root.stat().st_dev:
            remedy = "make the whole directory a link"
            raise UserError("is on another disk", file=place, expected=f"the disk of {root}", remedy=remedy)


def hidden_names(tasks: Iterable[TaskFiles]) -> frozenset[str]:
    """Return the names of the hidden tasks; raises `UserError` if a file `metadata` is invalid."""
    return frozenset(task.name for task in tasks if task.hidden)


def _task_directories(root: Path) -> list[Path]:
    if _looks_like_task(root):
        return [root]
    if (root / INPUTS).is_dir():
        return visible_directories(root / INPUTS)
    return [path for path in visible_directories(root) if _looks_like_task(path)]


def _looks_like_task(directory: Path) -> bool:
    models = TaskFiles("", directory, None).models
    return _has_data(directory) or any(not _has_data(path) and not _exists(path / REFERENCE) for path in models)


def _has_data(directory: Path) -> bool:
    """Whether a directory has training data, and is therefore a task, even if its name contains `model`."""
    return (directory / TRAIN.parts[0]).is_dir()


def _reference_directories(task: Path) -> list[Path]:
    task = task if task.name not in ("", "..") else task.resolve()
    parent = task.parent if task.parent.name else task.parent.resolve()
    directories = [task, parent / REFERENCES / task.name]
    if parent.name == INPUTS:
        directories.append(parent.parent / REFERENCES / task.name)
    return directories


def _references(root: Path) -> dict[str, Path]:
    if _exists(root / REFERENCE):
        return {own_path(root).name: root / REFERENCE}
    directories = [*visible_directories(root / REFERENCES), *visible_directories(root)]
    return {directory.name: directory / REFERENCE for directory in directories if _exists(directory / REFERENCE)}


def _exists(path: Path) -> bool:
    """Whether a path exists; true for a broken link, too, so that reading it raises a helpful error."""
    return path.exists() or path.is_symlink()
