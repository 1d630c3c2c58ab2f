"""Tests of `pgdl score`: the competition's score of records or of `.predict` files."""

import csv
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl, Record

from harness.outcome import Outcome
from scoring import RULE
from tests.board.board_examples import GAPS, MEASURE, MODELS, OFFICIAL, failed, rows, write_reference

DATA = Path(os.environ.get("PGDL_CONFORMANCE_DATA", Path(__file__).parents[2] / "../shared/data/pgdl")).absolute()
SCORES = DATA / "official_scores.json"

MODELS_ARE_AWAY = (
    "toy: its models are missing, so it cannot be checked whether records are of these models, and standard errors of "
    "scores are not split into gap_error and model_error"
)


@pytest.fixture
def reference(folder: Path) -> Path:
    return write_reference(folder / "task_data")


def write_predictions(directory: Path, values: dict[str, Any] | None = None, task: str = "toy") -> Path:
    directory.mkdir(exist_ok=True)
    content = dict(zip(MODELS, MEASURE, strict=True)) if values is None else values
    (directory / f"{task}.predict").write_text(json.dumps(content))
    return directory


def printed(pgdl: Pgdl, *arguments: object, code: int = 0) -> Any:
    """Return the output of `pgdl score ARGUMENTS --format json`."""
    ended = pgdl("score", *arguments, "--format", "json")
    assert (ended.code, ended.err) == (code, "")
    return json.loads(ended.out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def test_predictions_are_scored_with_all_digits(
    pgdl: Pgdl, reference: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submission has the name of the directory with the predictions, or of a link to this directory."""
    made = write_predictions(folder / "alice")
    (folder / "mallory").symlink_to(made)
    found = printed(pgdl, "--reference", reference, "--predictions", "mallory")
    assert found["submission"] == "mallory"
    assert (found["complete"], found["exceeded"]) == (True, False)
    official = pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    assert found["score"] == found["tasks"]["toy"]["official"] == official
    assert found["tasks"]["toy"].keys() == {
        "official", "official_pairs", "printed", "printed_subsets", "kendall", "granulated_kendall",
        "granulated_psi", "n_models", "undefined",
    }  # fmt: skip
    monkeypatch.chdir(made)
    assert printed(pgdl, "--reference", reference, "--predictions", ".")["submission"] == "alice"
    remedy = "name the directory of the reference data with --reference DIR"
    assert pgdl("score", "--reference", "no", "--predictions", ".").err == f"pgdl: no: no such directory; {remedy}\n"


def test_records_and_predictions_of_the_same_values_have_the_same_score(
    pgdl: Pgdl, reference: Path, record: Record, folder: Path
) -> None:
    record(rows("mine"))
    of_predictions = printed(pgdl, "--predictions", write_predictions(folder / "mine"))
    assert printed(pgdl) == of_predictions | {"remarks": [MODELS_ARE_AWAY]}
    assert of_predictions["remarks"] == []


def test_reference_data_can_tell_whose_records_count(pgdl: Pgdl, reference: Path, record: Record, folder: Path) -> None:
    known = {"models": dict.fromkeys(MODELS, "these"), "data": "images", "n_test": 100}
    (reference / "toy" / "contents.json").write_text(json.dumps(known))
    record([*rows("mine", model_digest="these", data_digest="images"), *rows("others", model_digest="others")])
    mine, others = printed(pgdl, code=1)["submissions"]
    assert (mine["complete"], others["complete"]) == (True, False)
    remarks = printed(pgdl, code=1)["remarks"]
    assert MODELS_ARE_AWAY not in remarks
    assert any("records of others (8 on toy) were made with an earlier version of the task" in one for one in remarks)
    heading, *lines = csv.reader(pgdl("board", "--format", "csv").lines)
    assert [bool(line[heading.index("gap_error")]) for line in lines] == [True, False], "its test set is known"


@pytest.mark.parametrize(
    "content",
    ["[]", "{}", '{"models": {"model_0": 1}, "data": "a"}', '{"models": {}}',
     '{"models": {}, "data": "a", "n_test": true}', '{"models": {}, "data": "a", "n_test": 1e3}'],
)  # fmt: skip
def test_an_invalid_file_of_contents_is_one_line(
    pgdl: Pgdl, reference: Path, record: Record, folder: Path, content: str
) -> None:
    (reference / "toy" / "contents.json").write_text(content)
    record(rows("mine"))
    assert "toy/contents.json" in pgdl("score").refusal()


@pytest.mark.parametrize("other", [{"model_digest": "others"}, {"data_digest": "others"}])
@pytest.mark.parametrize("command", [["score"], ["board"], ["report", "mine"]], ids=" ".join)
def test_records_of_several_networks_of_one_name_are_not_mixed(
    pgdl: Pgdl, reference: Path, record: Record, other: dict[str, str], command: list[str]
) -> None:
    record([*rows("mine"), *rows("mine", MEASURE[:3], **other)])
    problem = "toy: records of other models or data of the same names: expected one task, found several"
    assert problem in pgdl(*command).refusal()


def test_the_table_says_by_which_rule(pgdl: Pgdl, reference: Path, record: Record) -> None:
    record(rows("mine"))
    ended = pgdl("score")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "mine: score 29.5418"
    assert lines[1].split() == ["task", "official", "printed", "Kendall", "granulated", "models", "limiting", "pair"]
    assert lines[2].split()[:2] == ["toy", "29.5418"]
    assert lines[2].rstrip().endswith("8  axis_a x axis_b")
    assert "100 times the mean official score" in ended.out


def test_several_submissions_or_one_by_name(pgdl: Pgdl, reference: Path, record: Record) -> None:
    """The rule is printed once, below all scores."""
    record([*rows("one"), *rows("two", GAPS)])
    everybody = printed(pgdl)["submissions"]
    assert [row["submission"] for row in everybody] == ["one", "two"]
    assert printed(pgdl, "two") == everybody[1] | {"remarks": [MODELS_ARE_AWAY]}
    one, _, two = pgdl("score").out.partition("\ntwo: score ")
    assert one.startswith("one: score ")
    assert (one.count(RULE), two.count(RULE), two.count(MODELS_ARE_AWAY)) == (0, 1, 1)


def test_rows_of_other_settings_can_be_told_apart(pgdl: Pgdl, reference: Path, record: Record) -> None:
    record([*rows("mine"), *rows("mine", sandbox="none"), *rows("mine", run_seed=7), *rows("other")])
    found = sorted((one["submission"], one["sandboxed"], one["settings"]) for one in printed(pgdl)["submissions"])
    assert found == [("mine", False, ""), ("mine", True, ""), ("mine", True, "seed 7"), ("other", True, "")]
    assert "mine (not sandboxed): score" in pgdl("score").out


def test_only_the_tasks_that_are_asked_for(pgdl: Pgdl, reference: Path, record: Record) -> None:
    write_reference(reference, "second")
    record(rows("mine", task="other"))
    assert "no records of these tasks; run `pgdl run SUBMISSION` first" in pgdl("score").refusal()
    record(rows("mine"))
    assert set(printed(pgdl, code=1)["tasks"]) == {"second", "toy"}
    assert set(printed(pgdl, "--task", "toy")["tasks"]) == {"toy"}


def test_a_task_without_a_score_is_said_and_ends_with_1(pgdl: Pgdl, reference: Path, record: Record) -> None:
    record([*rows("mine"), failed("mine", "model_4", Outcome.CRASH)])
    why = "1 of 8 calls gave no value (model_4: CRASH)"
    found = printed(pgdl, code=1)
    assert (found["score"], found["complete"], found["tasks"]) == (None, False, {"toy": {"failed": why}})
    ended = pgdl("score")
    assert (ended.code, ended.lines[0].partition(",")[0][:16]) == (1, "mine: score none")
    assert f"No score: {why}" in ended.out


@pytest.mark.parametrize(
    ("changed", "score", "failed"),
    [
        ({"model_2": "EXCEEDED"}, 0.0, "1 of 8 calls gave no value (model_2: EXCEEDED)"),
        ({"model_2": math.nan}, None, "1 of 8 calls gave no value (model_2: value nan)"),
        (None, None, "7 of 8 calls gave no value (model_1: missing, "),
    ],
    ids=["exceeded: a score of 0", "nan: a failed call", "missing"],
)  # fmt: skip
def test_predictions_without_a_value(
    changed: dict[str, Any] | None, score: float | None, failed: str, pgdl: Pgdl, reference: Path, folder: Path
) -> None:
    write_reference(reference, "second")
    values = {"model_0": 1.0} if changed is None else dict(zip(MODELS, MEASURE, strict=True)) | changed
    found = printed(pgdl, "--predictions", write_predictions(folder / "mine", values), code=1)
    assert (found["score"], found["complete"], found["exceeded"]) == (score, False, score == 0)
    assert failed in found["tasks"]["toy"]["failed"]
    assert score == 0 or found["tasks"]["second"]["failed"].startswith("8 of 8 calls gave no value (model_0: missing, ")


def test_infinite_predictions_are_scored_by_their_order(pgdl: Pgdl, reference: Path, folder: Path) -> None:
    """The competition's program does the same: finite numbers in the same order have exactly the same score."""
    highest, lowest = max(MEASURE), min(MEASURE)
    infinite = [math.inf if one == highest else -math.inf if one == lowest else one for one in MEASURE]
    found, plain = (
        printed(pgdl, "--predictions", write_predictions(folder / "mine", dict(zip(MODELS, numbers, strict=True))))
        for numbers in (infinite, MEASURE)
    )
    assert found == plain
    assert found["complete"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--predictions", "mine"], "mine: no such directory: expected a directory with TASK.predict files"),
        (["--predictions", ".", "margin"], "--predictions scores files: it cannot be combined with SUBMISSION"),
        (["--reference", "nowhere"], "nowhere: no such directory"),
        (["--reference", "task_data", "--tasks", "nowhere"], "nowhere: no such directory"),
        (["--task", "tyo"], "did you mean 'toy'?"),
        (["--results", "nowhere.db"], "nowhere.db: no such results file; run `pgdl run SUBMISSION` first"),
        (["nobody"], "no records of 'nobody'; recorded here: mine"),
    ],
)
def test_wrong_arguments_end_with_2(
    arguments: list[str], problem: str, pgdl: Pgdl, reference: Path, record: Record
) -> None:
    record(rows("mine"))
    assert problem in pgdl("score", *arguments).refusal()


@pytest.mark.parametrize("source", ["records", "predictions"])
def test_two_hyperparameters_are_enough_for_kendall(source: str, pgdl: Pgdl, folder: Path, record: Record) -> None:
    write_reference(folder / "task_data", sizes=(2, 4))
    record(rows("mine"))
    arguments = [] if source == "records" else ["--predictions", write_predictions(folder / "mine")]
    found = printed(pgdl, *arguments, code=1)
    why = "official score: expected at least 3 hyperparameters that vary, found axis_a, axis_b"
    toy = found["tasks"]["toy"]
    assert (found["score"], toy["official"], toy["undefined"]) == (None, None, why)
    assert -1 <= toy["kendall"] <= 1
    assert found["remarks"][0] == f"toy: no {why}"
    text = pgdl("score", *arguments).out
    assert text.startswith("mine: score none")
    assert why in text


ALL_EQUAL = "toy: all 8 generalization gaps are 0.1: there is nothing to predict"
BY_ROUNDING = "toy: rounding alone makes {} between generalization gaps, which scores count all the same"


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ([0.1] * 8, [ALL_EQUAL]),
        ([0.1, 0.9 - 0.8, 0.8 - 0.7, *[0.1] * 5], [ALL_EQUAL, BY_ROUNDING.format("2 differences")]),
        ([0.1, 0.9 - 0.8, *GAPS[2:]], [BY_ROUNDING.format("1 difference")]),
        ([0.1, 0.1 + 1e-9, *GAPS[2:]], []),
    ],
)
def test_gaps_that_are_equal_or_differ_by_rounding_are_said(
    gaps: list[float], said: list[str], pgdl: Pgdl, folder: Path, record: Record
) -> None:
    write_reference(folder / "task_data", gaps=gaps)
    record(rows("mine"))
    assert [line for line in printed(pgdl)["remarks"] if "generalization gaps" in line] == said


def test_a_task_that_gives_nobody_an_official_score_is_no_failure_beside_one_that_does(
    pgdl: Pgdl, reference: Path, record: Record
) -> None:
    write_reference(reference, "flat", sizes=(2, 4))
    record([*rows("mine"), *rows("mine", task="flat")])
    found = printed(pgdl)
    assert (found["tasks"]["flat"]["official"], found["score"]) == (None, pytest.approx(100 * OFFICIAL))


@pytest.mark.skipif(not SCORES.is_file(), reason=f"no competition data: {SCORES} does not exist")
@pytest.mark.parametrize("submission", ["VPM_1", "VPM_80", "VR", "WCV"])
def test_real_submissions_have_the_scores_that_the_competition_gave_them(submission: str, pgdl: Pgdl) -> None:
    found = printed(pgdl, "--reference", DATA / "reference_data", "--predictions", DATA / "predictions" / submission)
    official = json.loads(SCORES.read_text())[submission]
    assert {task: score["official"] / 100 for task, score in found["tasks"].items()} == pytest.approx(
        official, rel=0, abs=1e-12
    )
    assert found["score"] == pytest.approx(100 * sum(official.values()) / len(official), rel=0, abs=1e-10)
