"""Finds tasks and reference data in a directory, and reads only whether they are hidden.

There are two layouts, both the competition's own:

* full: DIR/input_data/TASK/{model_*,dataset_1} and DIR/reference_data/TASK/model_configs.json,
* flat: DIR/TASK/{model_*,dataset_1,model_configs.json}; DIR may itself be TASK.

A file `metadata` in the directory of model_configs.json may mark the task as hidden (harness/format/mark.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError
from harness.format.files import visible_directories
from harness.format.half_fetched import half_fetched
from harness.format.layout import INPUTS, REFERENCE, REFERENCES, TEST, TRAIN
from harness.format.mark import find_marks, is_hidden
from harness.format.unfinished import unfinished_tasks
from harness.hints import did_you_mean
from harness.task import DEFAULT_DIRECTORY

_REMEDY = "name the directory of the tasks with --tasks DIR"


@dataclass(frozen=True)
class TaskFiles:
    """Paths of the parts of one task."""

    name: str
    directory: Path  #: contains the models' directories and dataset_1
    reference: Path | None  #: model_configs.json; None for a task without reference data
    reference_only: bool = False  #: without models: such a task can be scored, but not run
    marks: tuple[Path, ...] = ()  #: the files `metadata` that may mark the task as hidden

    @property
    def layout(self) -> str:
        """`full` or `flat`, see the module's docstring, or `reference only`."""
        if self.reference_only:
            return "reference only"
        return "full" if self.directory.absolute().parent.name == INPUTS else "flat"

    @property
    def hidden(self) -> bool:
        """Whether the task is marked as hidden; raises `UserError` for an invalid mark."""
        return is_hidden(self.marks)

    @property
    def models(self) -> list[Path]:
        """The models' directories, model_2 before model_10."""
        return [path for path in visible_directories(self.directory) if "model" in path.name]

    @property
    def train(self) -> Path:
        """Directory of the training shards."""
        return self.directory / TRAIN

    @property
    def test(self) -> Path:
        """Directory of the test shards."""
        return self.directory / TEST


def find_tasks(root: Path, names: Sequence[str] = ()) -> list[TaskFiles]:
    """Find the tasks in `root` that can be run, in natural order; `names` keeps only these.

    Raises:
        UserError: `root` is not a directory, contains no such task, or a name is unknown.
    """
    everything = _everything(root, names)
    tasks = [task for task in everything if not task.reference_only]
    alone = [task.name for task in everything if task.reference_only]
    if not tasks:
        raise _nothing(root, alone)
    _require_known(names, [task.name for task in tasks], root, without_models=alone)
    return [task for task in tasks if not names or task.name in names]


def find_all(root: Path, names: Sequence[str] = (), unfinished: Sequence[str] = ()) -> list[TaskFiles]:
    """Find the tasks in `root`, followed by those with reference data only; errors as `find_tasks`.

    `unfinished` names tasks whose models are still being trained, for a command that shows them: not to find these, or
    nothing else, is no error then.
    """
    everything = _everything(root, names, unfinished)
    _require_known(names, [*unfinished, *(task.name for task in everything)], root)
    return [task for task in everything if not names or task.name in names]


def find_some(root: Path, names: Iterable[str]) -> list[TaskFiles]:
    """Find those of some tasks that are in `root`, as `find_all`, which requires them."""
    wanted = list(names)
    return [task for task in _everything(root, wanted) if task.name in wanted]


def find_references(root: Path, names: Sequence[str] = ()) -> dict[str, Path]:
    """Find reference data in `root`: task name -> its model_configs.json; `names` keeps only these.

    `root` contains TASK/model_configs.json, reference_data/TASK/model_configs.json or model_configs.json itself.

    Raises:
        UserError: `root` is not a directory, contains no reference data, or a name is unknown.
    """
    found = {task.name: task.reference for task in _everything(root, names) if task.reference is not None}
    if not found:
        expected = f"TASK/{REFERENCE} or {REFERENCES}/TASK/{REFERENCE}"
        raise UserError("no reference data here", file=root, expected=expected, found="neither")
    _require_known(names, found, root)
    return {name: path for name, path in found.items() if not names or name in names}


def require_no_flat_tasks(root: Path) -> None:
    """Raise `UserError` if there are tasks in the flat layout in `root`: the first in the full layout would hide them.

    A directory `input_data` decides for the full layout.
    """
    if not (root / INPUTS).is_dir() and (flat := _task_directories(root)):
        found = f"{', '.join(path.name for path in flat)} in the flat layout, which {INPUTS} would hide"
        raise UserError("cannot take another task", file=root, expected=f"no tasks, or {INPUTS}/TASK", found=found,
                        remedy="name another directory")  # fmt: skip


def hidden_names(tasks: Iterable[TaskFiles]) -> frozenset[str]:
    """Names of the tasks that are marked as hidden; raises `UserError` for an invalid mark."""
    return frozenset(task.name for task in tasks if task.hidden)


def _everything(root: Path, names: Sequence[str], unfinished: Sequence[str] = ()) -> list[TaskFiles]:
    """Find all tasks in `root`, at least one unless some are unfinished.

    Those of `names`, or all, must not be half-fetched.
    """
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        demo = ", or create a task to try with `pgdl demo`" if str(root) == DEFAULT_DIRECTORY else ""
        raise UserError("not a directory", file=root, expected="a directory", found=found, remedy=_REMEDY + demo)
    _require_whole(root, names)
    tasks = {path.resolve().name: path for path in _task_directories(root)}
    everything = [
        # marks first: their error message is clearer if the reference data cannot be accessed
        TaskFiles(name, path, marks=find_marks(_reference_directories(path)), reference=_reference_of(path))
        for name, path in tasks.items()
    ]
    for name, path in _references(root).items():
        if name not in tasks:
            everything.append(TaskFiles(name, path.parent, path, reference_only=True, marks=find_marks([path.parent])))
    if not everything and not unfinished:
        raise _nothing(root)
    return everything


def _task_directories(root: Path) -> list[Path]:
    if _looks_like_task(root):
        return [root]
    if (root / INPUTS).is_dir():
        return visible_directories(root / INPUTS)
    return [path for path in visible_directories(root) if _looks_like_task(path)]


def _looks_like_task(directory: Path) -> bool:
    return (directory / TRAIN.parts[0]).is_dir() or bool(TaskFiles("", directory, None).models)


def _reference_of(task: Path) -> Path | None:
    """Return the model_configs.json in the task's directory, or the separate one of the full layout."""
    return next(
        (directory / REFERENCE for directory in _reference_directories(task) if _is_there(directory / REFERENCE)), None
    )


def _reference_directories(task: Path) -> list[Path]:
    """Return the directories that may contain a task's reference data."""
    task = task if task.name not in ("", "..") else task.resolve()
    parent = task.parent if task.parent.name else task.parent.resolve()
    directories = [task, parent / REFERENCES / task.name]
    if parent.name == INPUTS:
        directories.append(parent.parent / REFERENCES / task.name)
    return directories


def _references(root: Path) -> dict[str, Path]:
    if _is_there(root / REFERENCE):
        return {root.resolve().name: root / REFERENCE}
    directories = [*visible_directories(root / REFERENCES), *visible_directories(root)]
    return {directory.name: directory / REFERENCE for directory in directories if _is_there(directory / REFERENCE)}


def _is_there(path: Path) -> bool:
    """Whether something is there: a pipe or a link to nothing in place of a file is refused when it is read."""
    return path.exists() or path.is_symlink()


def _require_whole(root: Path, names: Sequence[str]) -> None:
    """Raise `UserError` for a task that is half-fetched; without names all are meant."""
    here = root.absolute()
    is_task = here.parent.name == INPUTS
    half = half_fetched(here.parent.parent if is_task else here.parent if here.name == INPUTS else root)
    meant = [name for name in half if name in (names or ([here.name] if is_task else half))]
    if meant:
        others = "" if names or is_task else ", or name other tasks with --task"
        remedy = f"{half[meant[0]]}{others}"
        raise UserError(f"half-fetched: {', '.join(meant)}", file=root, remedy=remedy)


def _nothing(root: Path, references: Sequence[str] = ()) -> UserError:
    """Return the error of a directory without a task that can be run, with `references` of some."""
    builds = unfinished_tasks(root)
    parts = [f"reference data, of {', '.join(references)}"] if references else []
    parts += [f"what pgdl task build has not finished: {', '.join(builds)}"] if builds else []
    found = f"only {', and '.join(parts)}" if parts else "neither"
    expected = f"TASK/model_* or {INPUTS}/TASK/model_*"
    remedy = f"continue with: {next(iter(builds.values()))}" if builds else _REMEDY
    return UserError("no task here", file=root, expected=expected, found=found, remedy=remedy)


def _require_known(names: Sequence[str], known: Iterable[str], root: Path, without_models: Sequence[str] = ()) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            if command := unfinished_tasks(root).get(name):
                remedy = f"continue with: {command}"
                raise UserError(f"task {name!r} is not finished", file=root, remedy=remedy)
            found = "reference data without models" if name in without_models else None
            expected, hint = f"one of {', '.join(known)}", did_you_mean(name, known)
            raise UserError(f"no task {name!r}", file=root, expected=expected, found=found, remedy=hint)
