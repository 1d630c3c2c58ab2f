"""Makes the bundle of a throw-away competition with the command line."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from in_process import Ended, Pgdl
from organised import GOOD, inner, organise, pack, write_output
from platform_worker import Worker

from harness.codabench.results import OUT_OF_TIME, PhaseResult
from harness.codabench.settings import PhaseSettings
from harness.submission import find_submission


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> Path:
    """The current directory; the cache has the shapes of the throw-away models, since computing them takes seconds."""
    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache" / "shapes")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Iterator[Path]:
    from harness.codabench.bundle import write_bundle

    directory = tmp_path_factory.mktemp("organised")
    shutil.copytree(shared_cache / "shapes", directory / "cache" / "shapes")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGDL_CACHE", str(directory / "cache"))
        write_bundle(organise(directory), directory / "bundle.zip")
        yield directory


@pytest.fixture(scope="module")
def phases(bundled: Path) -> list[PhaseSettings]:
    """The settings of both phases, read from the programs in the bundle."""
    programs = (inner(bundled / "bundle.zip", f"phase_{number}_scoring_program.zip") for number in (0, 1))
    return [PhaseSettings.model_validate_json(program.read("phase.json")) for program in programs]


@pytest.fixture(scope="module")
def worker(bundled: Path, tmp_path_factory: pytest.TempPathFactory) -> Worker:
    return Worker(bundled / "bundle.zip", tmp_path_factory.mktemp("worker"))


Export = Callable[..., Path]


@pytest.fixture
def export(phases: list[PhaseSettings], folder: Path) -> Export:
    """Return a function that writes exports/NAME.zip and exports/results/NAME.zip, as organisers download them."""

    def write(
        name: str, values: list[float | None], *, body: str = GOOD, ended: str = OUT_OF_TIME, **others: object
    ) -> Path:
        results, output = folder / "exports/results", folder / f"output-{name}"
        for directory in (results, output):
            directory.mkdir(parents=True, exist_ok=True)
        submission = find_submission(str(pack(folder / "exports", name, body)), "submission")
        columns = {"submission": "submission", "submission_digest": submission.digest} | others
        write_output(output, phases[0], values, PhaseResult(ended=ended), **columns)
        return Path(shutil.make_archive(str(results / name), "zip", output))

    return write


@pytest.fixture
def collect(pgdl: Pgdl, bundled: Path) -> Callable[..., Ended]:
    """Return a function that runs `pgdl codabench collect TOML SOURCE --phase Feedback` into results.db."""

    def run(*arguments: object, source: object = "exports") -> Ended:
        fixed = (bundled / "competition.toml", source, "--phase", "Feedback", "--results", "results.db")
        return pgdl("codabench", "collect", *fixed, *arguments)

    return run
