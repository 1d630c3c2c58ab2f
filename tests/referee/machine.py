"""Runs random actions of people in a competition, and compares the board with the referee's after every action."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.referee import faces
from tests.referee.referee import Choice
from tests.referee.revisions import run_ci, run_renaming_ci
from tests.referee.stub import staged
from tests.referee.world import MEASURE, MODELS, TASKS, Order, World

#: Paths of submissions; the last is a directory whose metadata claim the name of a measure.
FILES = ("a/sharp.py", "b/sharp.py", "c/Sharp.py", "d/flat.py", "d/f1at.py")
CLAIMING = "e/wide"

#: Names that may be given.
GIVEN = ("sharp", "sharp", "wide", "wide", "flat", "Sharp", "Num-Params", "noisyoracle")

#: Where memory is a disk, commits of a database take no time.
MEMORY = Path("/dev/shm")

tasks, models = st.sampled_from(TASKS), st.sampled_from(MODELS)
files, numbers = st.sampled_from((*FILES[:2], *FILES)), st.integers(0, 5)  # few: so that files are often the same
databases = st.sampled_from(("main", "main", "other"))
choices = st.builds(
    Choice, st.sampled_from((0, 0, 0, 1)), st.sampled_from((300.0, 300.0, 300.0, 200.0)),
    st.sampled_from(("bubblewrap",) * 7 + ("none",)),
)  # fmt: skip
usual = st.sampled_from((Choice(0), Choice(0), Choice(1)))
moments = st.sampled_from((None, None, None, 0, 3, 9))

ci_names = st.sampled_from(("sharp", "flat", "wide"))
ci_numbers = st.none() | numbers

#: Possible changes of a task, and of the software.
to_tasks = st.sampled_from(("model", "model", "data", "gap", "equal gaps", "drop", "hide", "hide", "move", "damage"))
to_software = st.sampled_from(("libraries", "loader", "measure", "clock"))


def often(act: Callable[..., None]) -> Callable[..., None]:
    """Return the same action under another name, so that hypothesis chooses it more often."""

    def again(machine: "Competition", **how: Any) -> None:
        act(machine, **how)

    again.__name__ = act.__name__.strip("_")
    return again


class Competition(RuleBasedStateMachine):
    """A competition, and the actions of people in it.

    The test sets `place`: the directories of a task, of the harness' sources and of a cache, which are copied.
    """

    place: dict[str, Path]

    def __init__(self) -> None:
        super().__init__()
        where = MEMORY if MEMORY.is_dir() else None
        self._directory = Path(tempfile.mkdtemp(prefix="referee-", dir=where))
        self.world = World(self._directory, **self.place)
        self._staged = staged(self.world.stage, self.world.harness)
        self._staged.__enter__()
        for number, path in enumerate(FILES):
            self._write(path, number)
        self._write(f"{CLAIMING}/complexity.py", 1)
        (self._directory / CLAIMING / "metadata").write_text("name: Num-Params\n")

    def teardown(self) -> None:
        try:
            if self.world.databases["main"].requests:
                faces.check_site(self.world, "main", self.world.databases["main"].board(self.world.tasks))
                faces.check_board(self.world, "other")
        finally:
            self._staged.__exit__(None, None, None)
            shutil.rmtree(self._directory, ignore_errors=True)

    def _write(self, path: str, number: int) -> None:
        file = self._directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def complexity(model, dataset):\n    number = {number}\n")

    # Submissions

    @rule(path=files, number=numbers)
    def hand_in(self, path: str, number: int) -> None:
        """Write a new version at a path, or an earlier version."""
        self._write(path, number)

    @rule(path=files, there=files)
    def copy(self, path: str, there: str) -> None:
        """Copy a submission's files to another path."""
        if path != there:
            shutil.copyfile(self._directory / path, self._directory / there)

    @initialize(path=files, other=files)
    def begin(self, path: str, other: str) -> None:
        """Run two submissions before the first action."""
        self.world.run(Order((path,)))
        self.world.run(Order((other,), "other"))

    def _run(self, path: str, choice: Choice, interrupt_at: int | None) -> None:
        """Run a submission; the run may be killed."""
        self.world.run(Order((path,), choice=choice), interrupt_at)

    run = rule(path=files, choice=usual, interrupt_at=moments)(often(_run))
    run_again = rule(path=files, choice=usual, interrupt_at=moments)(often(_run))
    run_once_more = rule(path=files, choice=usual, interrupt_at=moments)(often(_run))

    @rule(
        paths=st.lists(st.sampled_from((*FILES, CLAIMING, MEASURE)), min_size=1, max_size=2, unique=True),
        names=st.none() | st.lists(st.sampled_from(GIVEN), min_size=2, max_size=2), database=databases,
        only=st.sampled_from((None, None, *TASKS)), choice=choices, interrupt_at=moments, overtaken_at=moments,
    )  # fmt: skip
    def run_any(
        self, paths: list[str], names: list[str] | None, database: str, only: str | None, choice: Choice,
        interrupt_at: int | None, overtaken_at: int | None,
    ) -> None:  # fmt: skip
        """Run one or two submissions; the run may be killed, or sleep until another run has made its calls."""
        given = tuple(names[: len(paths) - (MEASURE in paths)]) if names else ()
        chosen = (only,) if only in self.world.tasks else ()
        order = Order(tuple(paths), database, given, chosen, choice)
        self.world.run(order, interrupt_at, overtaken_at if interrupt_at is None else None)

    @rule(path=files, name=st.sampled_from(("wide", "flat")), choice=usual)
    def run_as(self, path: str, name: str, choice: Choice) -> None:
        self.world.run(Order((path,), names=(name,), choice=choice))

    @rule(is_given=st.booleans(), choice=usual)
    def run_claiming(self, is_given: bool, choice: Choice) -> None:
        """Run a submission whose claimed name is refused, unless --as gives it another name."""
        self.world.run(Order((CLAIMING,), names=("wide",) if is_given else (), choice=choice))

    # Records, software and tasks

    @rule()
    def merge(self) -> None:
        """Add the records of the other database."""
        self.world.merge("other", "main")

    @rule(what=to_software, libraries=st.sampled_from("12"), seconds=st.sampled_from((-1000, 10**9)))
    def change_software(self, what: str, libraries: str, seconds: int) -> None:
        """Update libraries, edit the harness or a measure, or set the clock back or far ahead."""
        if what == "libraries":
            self.world.stage.libraries = libraries
        elif what == "clock":
            self.world.stage.seconds += seconds
        else:
            {"loader": self.world.edit_loader, "measure": self.world.edit_measure}[what]()

    def _change_task(self, what: str, name: str, model: str, path: str) -> None:
        """Change a task in one of several ways."""
        world = self.world
        if what == "move" and (name in world.away or len(world.tasks) > 1):
            world.move(name)  # one is always there
        if name not in world.tasks or model not in world.tasks[name].cells:
            return
        if what == "model":
            world.rewrite_model(name, model)
        elif what == "data":
            world.rewrite_data(name)
        elif what == "hide":
            world.hide(name)
        elif what in ("gap", "equal gaps"):
            world.measure_again(name, MODELS if what == "equal gaps" else [model])
        elif what == "drop" and len(world.tasks[name].cells) > 6:
            world.drop_model(name, model)
        elif what == "damage":
            world.damage(name, model)
            world.run(Order((path,)))
            self.board()
            faces.check_tasks(world, self._directory / path)
            world.damage(name, model)

    change_task = rule(what=to_tasks, name=tasks, model=models, path=files)(often(_change_task))
    change_task_again = rule(what=to_tasks, name=tasks, model=models, path=files)(often(_change_task))

    # Commands that only read

    @invariant()
    def board(self) -> None:
        if self.world.databases["main"].requests:
            faces.check_board(self.world, "main")

    @precondition(lambda self: self.world.databases["main"].requests)
    @rule(what=st.sampled_from(("csv", "markdown", "latex", "table", "tasks")), path=files)
    def look(self, what: str, path: str) -> None:
        """Check the scores of files, and one more output: a form of the board, or messages about tasks."""
        faces.check_score(self.world, "main", path)
        expected = self.world.databases["main"].board(self.world.tasks)
        if what == "csv":
            faces.check_csv(self.world, "main", expected)
        elif what == "tasks":
            faces.check_tasks(self.world, self._directory / path)
        else:
            faces.check_table(self.world, "main", expected, what)

    @precondition(lambda self: self.world.databases["main"].requests)
    @rule(name=tasks, model=models)
    def renew(self, name: str, model: str) -> None:
        """Train a model again, then run the commands that the board prints for stale records."""
        self._change_task("model", name, model, "")
        for names, command in faces.renewals(self.world, "main"):
            self.world.renew(names, command, "main")

    @rule(name=ci_names, number=ci_numbers, choice=usual, merges=st.booleans())
    def change(self, name: str, number: int | None, choice: Choice, merges: bool) -> None:
        """Change a repository of submissions, and evaluate the change with `pgdl ci`."""
        run_ci(self.world, name, number, choice, "main", merges=merges)

    @precondition(lambda self: self.world.files)
    @rule(name=ci_names, choice=usual, merges=st.booleans())
    def rename(self, name: str, choice: Choice, merges: bool) -> None:
        """Rename a submission of the repository, and evaluate the change with `pgdl ci`."""
        run_renaming_ci(self.world, name, choice, "main", merges=merges)

    @rule(name=ci_names, number=ci_numbers, choice=usual, adds=st.booleans())
    def change_main(self, name: str, number: int | None, choice: Choice, adds: bool) -> None:
        """Change the main branch, and evaluate it with `pgdl ci`, perhaps with the records of another database."""
        run_ci(self.world, name, number, choice, "main", merges=True, adds="other" if adds else None)
