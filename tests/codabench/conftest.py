"""A bundle of a throw-away competition, made by the command line."""

import io
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from in_process import Ended, Pgdl, in_process
from organised import organise

from harness.board.predictions import predictions_of
from harness.codabench.results import OUT_OF_TIME, RECORDS, result_of, write_result
from harness.codabench.seal import read_key
from harness.codabench.settings import Settings
from harness.outcome import Outcome
from harness.records import Records
from tests.records.evaluation_rows import evaluation, request

FIRST = datetime(2027, 2, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> Path:
    """The current directory; the throw-away models are known already: asking Keras takes seconds."""
    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache" / "shapes")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Run `pgdl ARGUMENTS`."""
    return in_process(monkeypatch, capsys)


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Iterator[Path]:
    """The directory of a competition with its bundle.zip."""
    from harness.codabench.bundle import write_bundle

    directory = tmp_path_factory.mktemp("organised")
    shutil.copytree(shared_cache / "shapes", directory / "cache" / "shapes")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGDL_CACHE", str(directory / "cache"))
        write_bundle(organise(directory), directory / "bundle.zip")
        yield directory


@pytest.fixture(scope="module")
def phases(bundled: Path) -> list[Settings]:
    """The settings of the phases, as the programs have them."""
    found = []
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        for number in (0, 1):
            with zipfile.ZipFile(io.BytesIO(archive.read(f"phase_{number}_scoring_program.zip"))) as program:
                found.append(Settings.model_validate_json(program.read("phase.json")))
    return found


Export = Callable[..., Path]


@pytest.fixture
def export(phases: list[Settings], bundled: Path, folder: Path) -> Export:
    """Write NAME.zip as the platform gives it to an organiser."""
    own = bundled / "competition.key"

    def write(
        name: str, values: list[float | None], *, phase: int = 0, digest: str = "d1", hours: int = 0, planned: int = 8,
        key: Path = own, ended: str = OUT_OF_TIME, outcome: Outcome = Outcome.OK,
    ) -> Path:  # fmt: skip
        settings, output = phases[phase], folder / f"output-{name}-{hours}"
        output.mkdir(parents=True)
        ((task, digests),) = settings.tasks.items()
        rows = [
            evaluation(
                submission="submission", submission_digest=digest, task=task, model=model,
                value=value if outcome is Outcome.OK else None,
                outcome=Outcome.TIMEOUT if value is None else outcome,
                model_digest=digests.models[model], data_digest=digests.data, sandbox="landlock",
            )
            for model, value in zip(digests.models, values, strict=False)
        ]  # fmt: skip
        with Records(str(output / "made.db")) as records:
            records.add(*rows)
            records.ask([request(rows[0], requested_at=FIRST + timedelta(hours=hours), source="/app/ingested_program")])
            predictions = predictions_of(list(records.newest_of()))
        opened = read_key(key)
        result = result_of(settings, opened).model_copy(update={"recorded": len(rows), "ended": ended})
        write_result(output, result, opened, {RECORDS: output / "made.db", **predictions})
        (output / "made.db").unlink()
        return Path(shutil.make_archive(str(folder / name), "zip", output))

    return write


@pytest.fixture
def collect(pgdl: Pgdl, bundled: Path) -> Callable[..., Ended]:
    """Run `pgdl codabench collect EXPORTS` into results.db."""

    def run(*arguments: object) -> Ended:
        fixed = ("--key", bundled / "competition.key", "--results", "results.db", "--tasks", bundled / "task_data")
        return pgdl("codabench", "collect", *arguments, *fixed)

    return run
