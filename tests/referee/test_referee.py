"""Tests that boards, reports and sites agree with the referee after random sequences of actions of people.

The referee (`referee.py`) is a second, independent statement of the rules. `make referee` runs more sequences, with new
random choices in each run.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from matrix import rest

from harness.execution.settings import SOURCES
from tests.referee import faces
from tests.referee.referee import Choice
from tests.referee.stub import staged
from tests.referee.world import MEASURE, MODELS, TASKS, Order, World
from tests.throwaway import make_task

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
    """A competition, and the actions of people in it."""

    place: dict[str, Path]  #: directories that are copied: of a task, of the harness' sources and of a cache

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
        if path != there:
            shutil.copyfile(self._directory / path, self._directory / there)

    @initialize(path=files, other=files)
    def begin(self, path: str, other: str) -> None:
        self.world.run(Order((path,)))
        self.world.run(Order((other,), "other"))

    def _run(self, path: str, choice: Choice, interrupt_at: int | None) -> None:
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
        self.world.run(Order((CLAIMING,), names=("wide",) if is_given else (), choice=choice))

    # Records, software and tasks

    @rule()
    def merge(self) -> None:
        self.world.merge("other", "main")

    @rule(what=to_software, libraries=st.sampled_from("12"), seconds=st.sampled_from((-1000, 10**9)))
    def change_software(self, what: str, libraries: str, seconds: int) -> None:
        if what == "libraries":
            self.world.stage.libraries = libraries
        elif what == "clock":
            self.world.stage.seconds += seconds
        else:
            {"loader": self.world.edit_loader, "measure": self.world.edit_measure}[what]()

    def _change_task(self, what: str, name: str, model: str, path: str) -> None:
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
        """Search other forms of the board, or messages about tasks, for secrets."""
        if what == "tasks":
            faces.check_tasks(self.world, self._directory / path)
        else:
            faces.show(self.world, "main", "board", "--format", what)

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
        faces.run_ci(self.world, name, number, choice, "main", merges=merges)

    @precondition(lambda self: self.world.files)
    @rule(name=ci_names, choice=usual, merges=st.booleans())
    def rename(self, name: str, choice: Choice, merges: bool) -> None:
        """Rename a submission of the repository, and evaluate the change with `pgdl ci`."""
        faces.run_renaming_ci(self.world, name, choice, "main", merges=merges)

    @rule(name=ci_names, number=ci_numbers, choice=usual, adds=st.booleans())
    def change_main(self, name: str, number: int | None, choice: Choice, adds: bool) -> None:
        """Change the main branch, and evaluate it with `pgdl ci`, perhaps with the records of another database."""
        faces.run_ci(self.world, name, number, choice, "main", merges=True, adds="other" if adds else None)


ROOT = Path(__file__).parents[2]

#: Examples, and steps of each; the same ones in every run unless their number is given.
EXAMPLES, STEPS = int(os.environ.get("PGDL_REFEREE_EXAMPLES", "2")), 40

#: Without shrinking the first contradiction ends the test.
PHASES = [one for one in Phase if one is not Phase.shrink or os.environ.get("PGDL_REFEREE_SHRINK") != "0"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> dict[str, Path]:
    """The directories that each world copies: a task, and the harness' sources that decide values."""
    directory = tmp_path_factory.mktemp("place")
    task = make_task(directory, n_train=6)
    shutil.rmtree(task / "dataset_1" / "test")
    for pattern in SOURCES:
        for file in (ROOT / "harness").glob(pattern):
            target = directory / "harness" / file.relative_to(ROOT / "harness")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return {"task": task, "harness": directory / "harness", "cache": shared_cache}


@pytest.mark.timeout(0)
@pytest.mark.parametrize("examples", [1, rest(EXAMPLES)])
def test_people_in_random_order(place: dict[str, Path], examples: int) -> None:
    chosen = settings(
        max_examples=examples, stateful_step_count=STEPS, deadline=None, suppress_health_check=list(HealthCheck),
        phases=PHASES, print_blob=True, derandomize="PGDL_REFEREE_EXAMPLES" not in os.environ,
    )  # fmt: skip

    class Here(Competition):
        pass

    Here.place = place
    run_state_machine_as_test(Here, settings=chosen)
