"""Tests of the scoring program alone: its refusals, which the platform shows."""

import io
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from organised import write_output
from throwaway import GAPS

from harness.codabench.results import OUT_OF_TIME, RECORDS, PhaseResult
from harness.codabench.settings import PhaseSettings

MADE = PhaseResult(ended=OUT_OF_TIME)


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


def write(places: list[Path], result: PhaseResult = MADE, **changes: object) -> None:
    """Write a result of the ingestion program; `changes` are columns of its records."""
    program, _, place, _ = places
    write_output(place, PhaseSettings.read(program), GAPS, result, **{"call_wall_s": 1.25} | changes)


def test_scores_have_the_keys_of_the_leaderboard(places, pgdl):
    write(places)
    ended = pgdl("codabench", "score", *places)
    assert (ended.code, ended.err) == (0, "")
    scores = json.loads((places[3] / "scores.json").read_text())
    assert scores["complete"] == 100
    assert scores["score"] == pytest.approx(100)
    assert ended.out.startswith("Score 100.00")


def test_calls_on_changed_input_data_are_no_result(places, pgdl):
    write(places, data_digest="other")
    err = pgdl("codabench", "score", *places).refusal()
    assert "calls on models or data that the phase does not have: found tiny" in err
    assert "calls on models or data that" in (places[3] / "detailed_results.html").read_text()
    assert not (places[3] / "scores.json").exists()


def test_requests_of_several_submissions_are_no_result(places, pgdl):
    write(places)
    with closing(sqlite3.connect(places[2] / RECORDS)) as connection:
        columns = [name for _, name, *_ in connection.execute("pragma table_info(requests)")]
        copied = ", ".join("'other'" if name == "submission" else name for name in columns if name != "id")
        given = ", ".join(name for name in columns if name != "id")
        connection.execute(f"insert into requests ({given}) select {copied} from requests")
        connection.commit()
    assert "records.db: requests of several submissions" in pgdl("codabench", "score", *places).refusal()
    assert not (places[3] / "scores.json").exists()


def test_a_submission_of_a_hidden_phase_is_told_that_it_was_received(places, pgdl, phases):
    (places[0] / "phase.json").write_bytes(phases[1].to_bytes())
    write(places, PhaseResult(notes=("its only folder, mine, is the submission",)))
    ended = pgdl("codabench", "score", *places)
    assert (ended.code, ended.err) == (0, "")
    assert json.loads((places[3] / "scores.json").read_text()) == {"complete": 100, "seconds": 1.25, "final": -1}
    said = (
        "Received. The scores of the phase Final are made by the organiser, on other tasks. Checked on tiny: the "
        "longest call took 1.2 of 5 s. Score 100.00"
    )
    for text in (ended.out, (places[3] / "detailed_results.html").read_text()):
        assert said in text
        assert "Its only folder, mine, is the submission." in text
        assert "secret" not in text


@pytest.mark.rest
def test_what_is_missing_is_said_in_the_report(places, pgdl):
    write(places)
    file = places[2] / RECORDS
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("delete from evaluations where model = 'model_0'")
        connection.commit()
    assert pgdl("codabench", "score", *places).code == 0
    said = "The container&#39;s time ran out: 7 of 8 calls were made, and the others have no value."
    assert said in (places[3] / "detailed_results.html").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("res/result.json", "no result of the ingestion program; the submission may have removed it"),
        ("program/phase.json", "phase.json: cannot be read: found No such file or directory"),
        ("res/records.db", "the container's time ran out: 0 of 8 calls were made"),
    ],
)
def test_what_is_missing_is_named_in_one_line(places, pgdl, tmp_path, name, said):
    write(places)
    (tmp_path / name).unlink()
    assert said in pgdl("codabench", "score", *places).refusal()


def test_the_page_of_an_error_is_text(places, pgdl):
    write(places)
    (places[2] / "<script>.predict").touch()
    write(places, PhaseResult(problem="<b>"))
    assert pgdl("codabench", "score", *places).code == 2
    assert "<b>" not in (places[3] / "detailed_results.html").read_text()


def test_a_report_that_cannot_be_written_does_not_hide_the_reason(places, pgdl):
    write(places)
    (places[2] / "result.json").unlink()
    places[3].rmdir()
    err = pgdl("codabench", "score", *places).refusal()
    assert "res/result.json: no result of the ingestion program; the submission may have removed it" in err
    assert "detailed_results.html cannot be written: No such file or directory" in err
