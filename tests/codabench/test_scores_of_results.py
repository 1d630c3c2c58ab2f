"""Tests of the scoring program alone: its refusals, which the platform shows."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from in_process import Ended, Pgdl
from organised import inner, write_output
from throwaway import GAPS

from harness.codabench.results import OUT_OF_TIME, RECORDS, PhaseResult
from harness.codabench.settings import PhaseSettings
from harness.outcome import Outcome

MADE = PhaseResult(ended=OUT_OF_TIME)


@pytest.fixture
def places(bundled: Path, tmp_path: Path) -> list[Path]:
    """The directories that the platform mounts: program, reference, result, output."""
    found = [tmp_path / name for name in ("program", "ref", "res", "output")]
    for place in found:
        place.mkdir()
    for place, part in zip(found, ("scoring_program", "reference_data"), strict=False):
        inner(bundled / "bundle.zip", f"phase_0_{part}.zip").extractall(place)
    return found


@pytest.fixture
def score(places: list[Path], pgdl: Pgdl) -> Callable[[], Ended]:
    return lambda: pgdl("codabench", "score", *places)


def write(places: list[Path], result: PhaseResult = MADE, **changes: object) -> None:
    """Write a result of the ingestion program; `changes` are columns of its records."""
    program, _, place, _ = places
    write_output(place, PhaseSettings.read(program), GAPS, result, **{"call_wall_s": 1.25} | changes)


def execute(places: list[Path], statement: str) -> None:
    with closing(sqlite3.connect(places[2] / RECORDS)) as connection:
        connection.execute(statement)
        connection.commit()


def test_scores_have_the_keys_of_the_leaderboard_and_what_has_no_value_is_said_in_the_report(places, score):
    write(places)
    ended = score()
    assert (ended.code, ended.err, ended.out[:12]) == (0, "", "Score 100.00")
    scores = json.loads((places[3] / "scores.json").read_text())
    assert (scores["complete"], scores["score"]) == (100, pytest.approx(100))
    execute(places, "delete from evaluations where model = 'model_0'")
    assert score().code == 0
    said = "The container&#39;s time ran out: 7 of 8 calls were made, and the others have no value."
    assert said in (places[3] / "detailed_results.html").read_text()


def test_calls_on_changed_input_data_and_requests_of_several_submissions_are_no_result(places, score):
    write(places, data_digest="other")
    said = "calls on models or data that the phase does not have: found tiny"
    assert said in score().refusal()
    assert said in (places[3] / "detailed_results.html").read_text()
    write(places)
    with closing(sqlite3.connect(places[2] / RECORDS)) as connection:
        columns = [name for _, name, *_ in connection.execute("pragma table_info(requests)") if name != "id"]
    copied = ", ".join("'other'" if name == "submission" else name for name in columns)
    execute(places, f"insert into requests ({', '.join(columns)}) select {copied} from requests")
    assert "records.db: requests of several submissions" in score().refusal()
    assert not (places[3] / "scores.json").exists()


def test_a_submission_of_a_hidden_phase_is_told_that_it_was_received(places, score, phases):
    (places[0] / "phase.json").write_bytes(phases[1].to_bytes())
    write(places, PhaseResult(notes=("its only folder, mine, is the submission",)))
    ended = score()
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


def test_what_is_missing_or_fails_is_named_in_one_line_and_in_a_page_that_is_text(places, score, tmp_path):
    page = places[3] / "detailed_results.html"
    for name, said in (
        ("res/records.db", "the container's time ran out: 0 of 8 calls were made"),
        ("res/result.json", "no result of the ingestion program; the submission may have removed it"),
        ("program/phase.json", "phase.json: cannot be read: found No such file or directory"),
    ):
        write(places)
        file = tmp_path / name
        content = file.read_bytes()
        file.unlink()
        assert said in score().refusal()
        file.write_bytes(content)
    write(places, value=None, outcome=Outcome.EXCEPTION, message="ValueError: <no layer>")
    assert score().code == 0
    assert json.loads((places[3] / "scores.json").read_text()) == {"complete": 0, "seconds": 1.25}
    assert "8 EXCEPTION: ValueError: &lt;no layer&gt;" in page.read_text()
    write(places, value=None, outcome=Outcome.TIMEOUT)
    assert score().code == 0
    scores = json.loads((places[3] / "scores.json").read_text())
    assert (scores["complete"], scores["score"]) == (0, 0), "as on the board"
    write(places, PhaseResult(problem="<b>"))
    assert score().code == 2
    assert "<b>" not in page.read_text()
    (places[2] / "result.json").unlink()
    shutil.rmtree(places[3])
    err = score().refusal()
    assert "res/result.json: no result of the ingestion program; the submission may have removed it" in err
    assert "detailed_results.html cannot be written: No such file or directory" in err
