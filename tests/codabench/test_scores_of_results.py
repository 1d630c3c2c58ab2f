"""The scoring program alone: what it refuses, and says where the platform shows it."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from throwaway import GAPS

from harness.codabench.results import OUT_OF_TIME, RECORDS, result_of, write_result
from harness.codabench.seal import read_key
from harness.codabench.settings import Settings
from harness.records import Records
from tests.records.evaluation_rows import evaluation, request


@pytest.fixture
def places(bundled: Path, tmp_path: Path) -> list[Path]:
    """The directories that the platform mounts: program, reference, result, output."""
    found = [tmp_path / name for name in ("program", "ref", "res", "output")]
    for place in found:
        place.mkdir()
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        for place, part in zip(found, ("scoring_program", "reference_data"), strict=False):
            with zipfile.ZipFile(io.BytesIO(archive.read(f"phase_0_{part}.zip"))) as packed:
                packed.extractall(place)
    return found


def write(places: list[Path], **changes: object) -> None:
    """Write what the ingestion program would have written, but for these columns of the records."""
    program, _, result, _ = places
    settings, key = Settings.read(program), read_key(program / "key")
    digests = settings.tasks["tiny"]
    changes = {"task": "tiny"} | changes
    rows = [
        evaluation(**{"model": model, "value": gap, "model_digest": digest, "data_digest": digests.data} | changes)
        for (model, digest), gap in zip(digests.models.items(), GAPS, strict=True)
    ]
    with Records(str(result / "made.db")) as records:
        records.add(*rows)
        records.ask([request(rows[0])])
    whole = result_of(settings, key).model_copy(update={"recorded": 8, "ended": OUT_OF_TIME})
    write_result(result, whole, key, {RECORDS: result / "made.db"})


def test_scores_have_the_keys_of_the_leaderboard(places, pgdl):
    write(places)
    ended = pgdl("codabench", "score", *places)
    assert (ended.code, ended.err) == (0, "")
    scores = json.loads((places[3] / "scores.json").read_text())
    assert scores["complete"] == 2
    assert scores["score"] == pytest.approx(100)
    assert ended.out.startswith("Score 100.00")


@pytest.mark.parametrize("column", ["model_digest", "data_digest"])
def test_calls_on_changed_input_data_are_no_result(places, pgdl, column):
    write(places, **{column: "other"})
    ended = pgdl("codabench", "score", *places)
    assert ended.code == 2
    assert "tiny: calls on other models or data than those of the phase" in ended.err
    assert "calls on other models or data" in (places[3] / "detailed_results.html").read_text()
    assert not (places[3] / "scores.json").exists()


def test_a_result_of_other_settings_is_refused(places, pgdl):
    write(places)
    settings = places[0] / "phase.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"time_limit_s": 9.0}))
    ended = pgdl("codabench", "score", *places)
    assert ended.code == 2
    assert "a result of other settings: expected a result of the phase 'Feedback' as it is now" in ended.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("res/result.json", "no result of the ingestion program; the log of the ingestion program says why"),
        ("program/phase.json", "phase.json: cannot be read: found No such file or directory"),
        ("program/key", "key: cannot be read: found No such file or directory"),
    ],
)
def test_what_is_missing_is_named_in_one_line(places, pgdl, tmp_path, name, said):
    write(places)
    (tmp_path / name).unlink()
    ended = pgdl("codabench", "score", *places)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_the_page_of_an_error_is_text(places, pgdl):
    write(places)
    (places[2] / "<script>.predict").touch()
    (places[2] / "result.json").write_text('{"competition": "<b>", "seal": ""}')
    assert pgdl("codabench", "score", *places).code == 2
    assert "<b>" not in (places[3] / "detailed_results.html").read_text()


def test_a_report_that_cannot_be_written_does_not_hide_the_reason(places, pgdl):
    write(places)
    (places[2] / "result.json").unlink()
    places[3].rmdir()
    ended = pgdl("codabench", "score", *places)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert "res/result.json: no result of the ingestion program; the log of the ingestion program says why" in ended.err
    assert "detailed_results.html cannot be written: No such file or directory" in ended.err
