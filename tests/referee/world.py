"""A throw-away competition, on disk and as the referee knows it.

Every action is a command, run in this process. All output and files are searched for passwords and for secrets of a
hidden task.
"""

import itertools
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from harness import process_identity
from harness.execution.plan import PlannedCall
from harness.records import Records, add_records
from tests.ci.repositories import Repo
from tests.e2e.real_runs import run_here
from tests.referee.referee import Call, Choice, Database, Record, Refusal, Request, Software, Task, Version, alike
from tests.referee.stub import Stage, forget_sources, number_in, output_of, play
from tests.throwaway import HYPERPARAMETERS, dense_layers, dense_weights, write_json, write_shards, write_weights

#: Names like those of columns.
TASKS = ("score", "interval")

#: The password of every database.
SECRET = "canary-password"

MODELS = [f"model_{number}" for number in range(8)]
SIZES = tuple(HYPERPARAMETERS.values())
CELLS = dict(zip(MODELS, itertools.product((0, 1), repeat=3), strict=True))
GAPS = dict(zip(MODELS, (0.10117, 0.20219, 0.15327, 0.30131, 0.12543, 0.22157, 0.05661, 0.40279), strict=True))

#: Follows the files of a submission that a run leaves out for the name that its metadata claim.
REFUSED = " (refused)"

#: A measure of the library, and the file that it is in.
MEASURE, MEASURE_FILE = "num_params", "baselines/size/counts.py"


@dataclass(frozen=True)
class Order:
    """The arguments of a `pgdl run`: paths or the measure, names given to the paths, database, tasks and settings."""

    arguments: tuple[str, ...]
    database: str = "main"
    names: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    choice: Choice = field(default_factory=Choice)


@dataclass(frozen=True)
class Expected:
    """The expected work of a run: the submissions with their known paths, and the calls to make."""

    known_as: dict[Version, str]
    tasks: tuple[str, ...]
    missing: frozenset[Call]


class World:
    """The competition in an empty directory, with a copy of a task and of the harness' sources."""

    def __init__(self, directory: Path, task: Path, harness: Path, cache: Path) -> None:
        self.directory, self.root, self.harness = directory, directory / "tasks", directory / "harness"
        self.environment = {"PATH": os.environ["PATH"], "PGDL_CACHE": str(cache), "COLUMNS": "250"}
        self._numbers = itertools.count(1)
        self.tasks: dict[str, Task] = {}
        self.away: dict[str, Task] = {}
        self.stage = Stage(self._numbers_of)
        self.databases = {"main": Database(), "other": Database()}
        self.digests: dict[Version, str] = {}
        self.loader = self.library = 0
        shutil.copytree(harness, self.harness)
        self.repo = Repo(directory / "repository")
        self.files: dict[str, str] = {}  #: of the main branch: name -> content
        self.commit = self.repo.commit({"submissions/README.md": ""}, branch="main")
        for name in TASKS:
            shutil.copytree(task, self.root / name)
            numbers = {model: f"{next(self._numbers)}" for model in MODELS}
            self.tasks[name] = Task(dict(CELLS), dict(GAPS), numbers, f"{next(self._numbers)}")
            self.write_reference(name)

    # Tasks

    def write_reference(self, name: str) -> None:
        """Write the reference data with names and values of hyperparameters that occur nowhere else."""
        task = self.tasks[name]
        values = [f"value-of-{name}-{number}" for number in (0, 1)]
        content = {
            model: {
                "hparams": {
                    f"axis-of-{name}-{axis}": {"possible_values": values, "current_value": values[code]}
                    for axis, code in enumerate(cell)
                },
                "metrics": {"train_acc": 1.0, "test_acc": 1.0 - task.gaps[model]},
            }
            for model, cell in task.cells.items()
        }
        write_json(self.root / name / "model_configs.json", content)

    def rewrite_model(self, name: str, model: str) -> None:
        """Give a model new weights."""
        number = next(self._numbers)
        activation, depth, width = (pair[code] for pair, code in zip(SIZES, CELLS[model], strict=True))
        weights = dense_weights(dense_layers(activation, depth, width), np.random.default_rng(number))
        write_weights(self.root / name / model / "weights.hdf5", weights)
        damage = self.tasks[name].contents[model].partition(" ")[2]
        self.tasks[name].contents[model] = f"{number} {damage}".strip()

    def rewrite_data(self, name: str) -> None:
        number = next(self._numbers)
        inputs = np.random.default_rng(number).normal(size=(6, 4)).astype(np.float32)
        write_shards(self.root / name / "dataset_1" / "train", inputs, np.arange(6, dtype=np.int32) % 3, 2)
        self.tasks[name].data = str(number)

    def measure_again(self, name: str, models: list[str]) -> None:
        """Set the same new test accuracy for several models."""
        task = self.tasks[name]
        number = next(self._numbers)
        task.gaps.update(dict.fromkeys(set(models) & set(task.cells), 0.07819 + number / 10_000))
        self.write_reference(name)

    def damage(self, name: str, model: str) -> None:
        """Damage a model's architecture, or repair it."""
        task, file = self.tasks[name], self.root / name / model / "config.json"
        number, _, damage = task.contents[model].partition(" ")
        content = file.read_text()
        file.write_text(content[1:] if damage else f"]{content}")
        task.contents[model] = number if damage else f"{number} damaged"
        task.valid = not any("damaged" in content for content in task.contents.values())

    def drop_model(self, name: str, model: str) -> None:
        """Remove a model from a task: its grid is then no longer full."""
        task = self.tasks[name]
        for part in (task.cells, task.gaps, task.contents):
            del part[model]
        shutil.rmtree(self.root / name / model)
        task.valid = not any("damaged" in content for content in task.contents.values())
        self.write_reference(name)

    def hide(self, name: str) -> None:
        """Mark a task as hidden, or remove the mark."""
        task = self.tasks[name]
        task.hidden = not task.hidden
        (self.root / name / "metadata").write_text(f"hidden: {str(task.hidden).lower()}\n")

    def move(self, name: str) -> None:
        """Move a task away, or move it back."""
        here, there = self.root / name, self.directory / "away" / name
        there.parent.mkdir(exist_ok=True)
        if name in self.tasks:
            self.away[name] = self.tasks.pop(name)
            here.rename(there)
        else:
            self.tasks[name] = self.away.pop(name)
            there.rename(here)

    def _numbers_of(self, task: str, model: str) -> tuple[int, int]:
        known = self.tasks[task]
        return int(known.contents[model].split()[0]), int(known.data)

    # Software

    @property
    def software(self) -> Software:
        """The current versions of libraries and harness."""
        return Software(self.stage.libraries, str(self.loader))

    def edit_loader(self) -> None:
        """Change the harness' code that loads models."""
        self.loader += 1
        with (self.harness / "worker" / "main.py").open("a") as file:
            file.write(f"EDITION = {self.loader}\n")
        forget_sources()

    def edit_measure(self) -> None:
        self.library += 1
        self.stage.library = {
            **self.stage.library, MEASURE_FILE: self.stage.library[MEASURE_FILE] + b"EDITION = 1\n",
        }  # fmt: skip
        forget_sources()

    # Commands

    def location(self, database: str) -> str:
        """Return the location of a database, with a password."""
        return f"sqlite:///file:{self.directory}/{database}.db?uri=true&password={SECRET}"

    def pgdl(self, *arguments: object) -> CompletedProcess[str]:
        """Run a command, and search its output for secrets."""
        done = run_here([*map(str, arguments)], self.environment, self.directory)
        assert done.returncode in (0, 1, 2, 130), done.stderr
        self.require_no_canary(done.stdout + done.stderr)
        return done

    def require_no_canary(self, text: str) -> None:
        """Assert that a text contains no password, and of a hidden task only its name, outcomes and rounded scores."""
        assert SECRET not in text
        for name, task in self.tasks.items():
            gaps = [f"{gap:.5f}" for gap in task.gaps.values()]
            canaries = [f"axis-of-{name}", f"value-of-{name}", output_of(name), *gaps] if task.hidden else []
            seen = [canary for canary in canaries if canary in text]
            others = {f"{gap:.5f}" for other in self.tasks.values() if not other.hidden for gap in other.gaps.values()}
            assert not set(seen) - others, f"of the hidden task {name}: {seen}"

    def run(self, order: Order, interrupt_at: int | None = None, overtaken_at: int | None = None) -> bool:
        """Run submissions, and return whether the run was refused.

        The run is interrupted before call `interrupt_at`. Before call `overtaken_at`, it sleeps until another run ends.
        """
        line, database = self._line(order), self.databases[order.database]
        n_requests = len(self.request_rows(order.database))
        expected = self._expect(order)
        if isinstance(expected, Refusal):
            assert self.pgdl(*line).returncode == 2, expected
            assert len(self.request_rows(order.database)) == n_requests, expected
            return True
        happens_at = [at for at in (interrupt_at, overtaken_at) if at is not None and at < len(expected.missing)]

        def before_call(position: int) -> None:
            if [position] != happens_at:
                return
            if interrupt_at is not None:
                raise KeyboardInterrupt
            self.stage.before_call = lambda _: None
            with pytest.MonkeyPatch.context() as patch:
                # The first process seems to be dead.
                patch.setattr(process_identity, "start_time", lambda _: "at another time")
                assert self.pgdl(*line).returncode in (0, 1)

        self.stage.made.clear()
        self.stage.before_call = before_call
        done = self.pgdl(*line)
        self.stage.before_call = lambda _: None
        was_cut = bool(happens_at) and interrupt_at is not None
        assert (done.returncode == 130) == was_cut, done.stderr
        assert done.returncode != 2, done.stderr
        n_runs = 2 if happens_at and overtaken_at is not None else 1
        self._note_requests(order, expected, n_requests, n_runs)
        made = {self._as_call(planned, expected, order) for planned in self.stage.made}
        assert made == expected.missing if not was_cut else (made < expected.missing and len(made) == interrupt_at)
        for call in made:
            database.add(self.record_of(call))
        self.require_one_record_each(order.database)
        return False

    def merge(self, source: str, target: str) -> None:
        """Add the records of one database to another."""
        file = self.directory / f"{source}.db"
        if not file.exists():
            return
        n_before, n_known = len(self.request_rows(target)), len(self.databases[target].requests)
        with Records(self.location(target)) as records:
            add_records(records, file)
        self.note_merge(source, target, n_before, n_known)

    def note_merge(self, source: str, target: str, n_before: int, n_known: int) -> None:
        """Tell the referee of a merge, with the time that the database has recorded."""
        times = [row["merged_at"] for row in self.request_rows(target)[n_before:] if row["merged_at"]]
        self.databases[target].merge(self.databases[source], times[0] if times else "")
        assert len(self.databases[target].requests) - n_known == len(times)

    def renew(self, rows: list[str], command: list[str], database: str) -> None:
        """Run a printed command that renews stale records, and assert that it renews rows whose files still exist."""
        arguments = list(itertools.takewhile(lambda word: not word.startswith("--"), command[2:]))
        if not all(one == MEASURE or (self.directory / one).exists() for one in arguments):
            return  # of a repository
        options = [pair for pair in itertools.pairwise(command) if pair[0].startswith("--")]
        given = dict(options)
        isolation = "none" if "--unsafe-no-sandbox" in command else "bubblewrap"
        choice = Choice(int(given.get("--seed", 0)), float(given.get("--time-limit", 300)), isolation)
        paths = tuple(one if one == MEASURE else str(Path(one).relative_to(self.directory)) for one in arguments)
        names = tuple(name for option, name in options if option == "--as")
        stale = [version for version in self._stale(database, choice) if version.name in rows]
        if self.run(Order(paths, database, names, choice=choice)):
            assert not all(task.valid for task in self.tasks.values())
            return
        present = [version for version in stale if self._is_there(version, database)]
        assert not set(present) & set(self._stale(database, choice))

    def _stale(self, database: str, choice: Choice) -> list[Version]:
        rows = self.databases[database].board(self.tasks)
        return [row.version for row in rows if row.n_stale and row.choice == choice]

    def _is_there(self, version: Version, database: str) -> bool:
        """Return whether the path under which a submission is known still has the files of this version."""
        if version.is_baseline:
            return version == self.version(MEASURE)
        source = self.databases[database].names()[version.name][-1].source
        return Path(source).exists() and self.version(source, version.name).files == version.files

    def version(self, argument: str, name: str | None = None) -> Version:
        """Return the submission that an argument of a command names."""
        if argument == MEASURE:
            return Version(MEASURE, f"edition {self.library}", is_baseline=True)
        path = self.directory / argument
        if path.is_file():
            return Version(name or path.stem, path.read_text())
        files = "\n".join(file.read_text() for file in sorted(path.iterdir()))
        return Version(name or path.name, files + ("" if name else REFUSED))

    def _line(self, order: Order) -> list[str]:
        choice = order.choice
        line = ["run", *order.arguments, "--tasks", str(self.root), "--results", self.location(order.database)]
        line += [word for task in order.tasks for word in ("--task", task)]
        line += [word for name in order.names for word in ("--as", name)]
        line += ["--seed", str(choice.seed), "--time-limit", str(choice.limit)]
        return line + (["--unsafe-no-sandbox"] if choice.isolation == "none" else [])

    def _expect(self, order: Order) -> Expected | Refusal:
        """Return the expected work of a run; raise `Refusal` if the run must be refused."""
        try:
            return self._accept(order)
        except Refusal as refusal:
            return refusal

    def _accept(self, order: Order) -> Expected:
        names = iter(order.names)
        versions = [self.version(one, None if one == MEASURE else next(names, None)) for one in order.arguments]
        sources = ["library" if one == MEASURE else str(self.directory / one) for one in order.arguments]
        tasks = order.tasks or tuple(sorted(self.tasks))
        if not all(self.tasks[task].valid for task in tasks):
            raise Refusal("damaged")
        if order.choice.isolation == "none" and any(self.tasks[task].hidden for task in tasks):
            raise Refusal("hidden")
        database = self.databases[order.database]
        handed_in = [
            (version, source)
            for version, source in zip(versions, sources, strict=True)
            if not version.files.endswith(REFUSED)
        ]
        known_as = {}
        for version, source in handed_in:
            same = [one for one in handed_in if one[0].name == version.name or alike(one[0].name, version.name)]
            owners = [one for one in same if database.is_known(*one)]
            if len(same) == 1 or owners == [(version, source)]:
                with suppress(Refusal):
                    known_as[version] = database.settle(version, source, given=bool(order.names))
        if not known_as:
            raise Refusal("nothing to run")
        return Expected(known_as, tasks, frozenset(database.missing(self.calls(list(known_as), tasks, order.choice))))

    def calls(self, versions: list[Version], tasks: tuple[str, ...], choice: Choice) -> list[Call]:
        return [
            Call(version, name, model, self.tasks[name].contents[model], self.tasks[name].data, choice, self.software)
            for version in versions for name in tasks for model in self.tasks[name].cells
        ]  # fmt: skip

    def _as_call(self, planned: PlannedCall, expected: Expected, order: Order) -> Call:
        version = next(one for one in expected.known_as if one.name == planned.submission.name)
        (call,) = [
            one for one in self.calls([version], (planned.task.name,), order.choice) if one.model == planned.model.id
        ]
        return call

    def record_of(self, call: Call) -> Record:
        model, data = self._numbers_of(call.task, call.model)
        played = play(number_in(call.version.files.encode()), model, data, call.choice.seed)
        return Record(call, *played)

    def request_rows(self, database: str) -> list[sqlite3.Row]:
        return self._rows(database, "select * from requests order by id")

    def _rows(self, database: str, query: str) -> list[sqlite3.Row]:
        file = self.directory / f"{database}.db"
        if not file.exists():
            return []
        with closing(sqlite3.connect(file)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(query).fetchall()

    def _note_requests(self, order: Order, expected: Expected, n_before: int, n_runs: int) -> None:
        """Tell the referee about a run's requests, with the digests that only the database knows."""
        new = self.request_rows(order.database)[n_before:]
        by_name = {version.name: version for version in expected.known_as}
        asked = sorted((name, task, expected.known_as[by_name[name]]) for name in by_name for task in expected.tasks)
        assert sorted((row["submission"], row["task"], row["source"]) for row in new) == sorted(asked * n_runs)
        for row in new:
            self.databases[order.database].requests.append(
                self.request(row, by_name[row["submission"]], order.choice, self.software)
            )

    def request(self, row: sqlite3.Row, version: Version, choice: Choice, software: Software) -> Request:
        """Return the referee's form of a row of the table of requests."""
        self.digests[version] = row["submission_digest"]
        order = (row["submission_digest"], row["configuration"])
        return Request(version, row["source"], row["task"], choice, software, row["requested_at"], order)

    def require_one_record_each(self, database: str) -> None:
        query = "select key, count(*) from evaluations where outcome != 'INFRA_ERROR' group by key having count(*) > 1"
        assert self._rows(database, query) == []
