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
VALUES = dict(zip(MODELS, MEASURE, strict=True))


@pytest.fixture
def reference(folder: Path) -> Path:
    return write_reference(folder / "task_data")


def write_predictions(directory: Path, values: dict[str, Any] = VALUES) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "toy.predict").write_text(json.dumps(values))
    return directory


def printed(pgdl: Pgdl, *arguments: object, code: int = 0) -> Any:
    """Return the output of `pgdl score ARGUMENTS --format json`."""
    ended = pgdl("score", *arguments, "--format", "json")
    assert (ended.code, ended.err) == (code, "")
    return json.loads(ended.out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def test_predictions_are_scored_with_all_digits_as_records_of_the_same_values_are(
    pgdl: Pgdl, reference: Path, folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submission has the name of the directory with the predictions, or of a link to this directory."""
    made = write_predictions(folder / "alice")
    (folder / "mallory").symlink_to(made)
    found = printed(pgdl, "--reference", reference, "--predictions", "mallory")
    assert (found["submission"], found["complete"], found["exceeded"], found["remarks"]) == ("mallory", True, False, [])
    official = pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    assert found["score"] == found["tasks"]["toy"]["official"] == official
    assert found["tasks"]["toy"].keys() == {
        "official", "official_pairs", "printed", "printed_subsets", "kendall", "granulated_kendall",
        "granulated_psi", "n_models", "undefined",
    }  # fmt: skip
    record(rows("mallory"))
    assert printed(pgdl) == found | {"remarks": [MODELS_ARE_AWAY]}
    monkeypatch.chdir(made)
    assert printed(pgdl, "--reference", reference, "--predictions", ".")["submission"] == "alice"


def test_reference_data_can_tell_whose_records_count(pgdl: Pgdl, reference: Path, record: Record) -> None:
    known = {"models": dict.fromkeys(MODELS, "these"), "data": "images", "n_test": 100}
    (reference / "toy" / "contents.json").write_text(json.dumps(known))
    record([*rows("mine", model_digest="these", data_digest="images"), *rows("others", model_digest="others")])
    found = printed(pgdl, code=1)
    assert [one["complete"] for one in found["submissions"]] == [True, False]
    assert MODELS_ARE_AWAY not in found["remarks"]
    assert "records of others (8 on toy) were made with an earlier version of the task" in str(found["remarks"])
    heading, *lines = csv.reader(pgdl("board", "--format", "csv").lines)
    assert [bool(line[heading.index("gap_error")]) for line in lines] == [True, False], "its test set is known"
    for content in (
        "[]", "{}", '{"models": {"model_0": 1}, "data": "a"}', '{"models": {}}',
        '{"models": {}, "data": "a", "n_test": true}', '{"models": {}, "data": "a", "n_test": 1e3}',
    ):  # fmt: skip
        (reference / "toy" / "contents.json").write_text(content)
        assert "toy/contents.json" in pgdl("score").refusal(), content


def test_tasks_with_the_same_models_are_said(pgdl: Pgdl, reference: Path, record: Record) -> None:
    record(rows("mine"))
    for task, digests in {"other": "abcdefgh", "toy": "ijklmnop", "twin": "pqrstuvw"}.items():
        known = {"models": dict(zip(MODELS, digests, strict=True)), "data": "images"}
        (write_reference(reference, task) / task / "contents.json").write_text(json.dumps(known))
    assert "toy, twin have models in common" in str(printed(pgdl, code=1)["remarks"])


@pytest.mark.parametrize("other", [{"model_digest": "others"}, {"data_digest": "others"}])
def test_records_of_several_networks_of_one_name_are_not_mixed(
    pgdl: Pgdl, reference: Path, record: Record, other: dict[str, str]
) -> None:
    record([*rows("mine"), *rows("mine", MEASURE[:3], **other)])
    problem = "toy: records of other models or data of the same names: expected one task, found several"
    for command in (["score"], ["board"], ["report", "mine"]):
        assert problem in pgdl(*command).refusal()


def test_the_table_says_by_which_rule_once_for_all_submissions(pgdl: Pgdl, reference: Path, record: Record) -> None:
    record(rows("mine"))
    ended = pgdl("score")
    assert (ended.code, ended.err, ended.lines[0]) == (0, "", "mine: score 29.5418")
    headings = ["task", "official", "printed", "Kendall", "granulated", "models", "limiting", "pair"]
    assert ended.lines[1].split() == headings
    assert ended.lines[2].split()[:2] == ["toy", "29.5418"]
    assert ended.lines[2].rstrip().endswith("8  axis_a x axis_b")
    record(rows("two", GAPS))
    everybody = printed(pgdl)["submissions"]
    assert [row["submission"] for row in everybody] == ["mine", "two"]
    assert printed(pgdl, "two") == everybody[1] | {"remarks": [MODELS_ARE_AWAY]}
    one, _, two = pgdl("score").out.partition("\ntwo: score ")
    assert one.startswith("mine: score ")
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


def test_predictions_without_a_value_fail_exceeded_ones_score_0_and_infinite_ones_have_an_order(
    pgdl: Pgdl, reference: Path, folder: Path
) -> None:
    write_reference(reference, "second")

    def scored(values: dict[str, Any]) -> Any:
        return printed(pgdl, "--predictions", write_predictions(folder / "mine", values), code=1)

    for values, score, why in (
        (VALUES | {"model_2": "EXCEEDED"}, 0.0, "1 of 8 calls gave no value (model_2: EXCEEDED)"),
        (VALUES | {"model_2": math.nan}, None, "1 of 8 calls gave no value (model_2: value nan)"),
        ({"model_0": 1.0}, None, "7 of 8 calls gave no value (model_1: missing, "),
    ):
        found = scored(values)
        assert (found["score"], found["complete"], found["exceeded"]) == (score, False, score == 0)
        assert why in found["tasks"]["toy"]["failed"]
    assert found["tasks"]["second"]["failed"].startswith("8 of 8 calls gave no value (model_0: missing, ")
    ends = {max(MEASURE): math.inf, min(MEASURE): -math.inf}
    infinite = {model: ends.get(value, value) for model, value in VALUES.items()}
    assert scored(infinite)["tasks"]["toy"] == scored(VALUES)["tasks"]["toy"]


def test_two_hyperparameters_are_enough_for_kendall_but_not_for_an_official_score(
    pgdl: Pgdl, folder: Path, record: Record
) -> None:
    """A task that gives no submission an official score is no failure beside one that does."""
    write_reference(folder / "task_data", "flat", sizes=(2, 4))
    record([*rows("mine"), *rows("mine", task="flat")])
    (write_predictions(folder / "mine") / "toy.predict").rename(folder / "mine" / "flat.predict")
    why = "official score: expected at least 3 hyperparameters that vary, found axis_a, axis_b"
    for arguments in ([], ["--predictions", folder / "mine"]):
        found = printed(pgdl, *arguments, code=1)
        flat = found["tasks"]["flat"]
        assert (found["score"], flat["official"], flat["undefined"]) == (None, None, why)
        assert -1 <= flat["kendall"] <= 1
        assert found["remarks"][0] == f"flat: no {why}"
        text = pgdl("score", *arguments).out
        assert (text[:16], why in text) == ("mine: score none", True)
    write_reference(folder / "task_data")
    found = printed(pgdl)
    assert (found["tasks"]["flat"]["official"], found["score"]) == (None, pytest.approx(100 * OFFICIAL))


ALL_EQUAL = "toy: all 8 generalization gaps are 0.1: there is nothing to predict"
BY_ROUNDING = "toy: rounding alone makes {} between generalization gaps, which scores count all the same"


def test_gaps_that_are_equal_or_differ_by_rounding_are_said(pgdl: Pgdl, folder: Path, record: Record) -> None:
    record(rows("mine"))
    for gaps, said in (
        ([0.1] * 8, [ALL_EQUAL]),
        ([0.1, 0.9 - 0.8, 0.8 - 0.7, *[0.1] * 5], [ALL_EQUAL, BY_ROUNDING.format("2 differences")]),
        ([0.1, 0.9 - 0.8, *GAPS[2:]], [BY_ROUNDING.format("1 difference")]),
        ([0.1, 0.1 + 1e-9, *GAPS[2:]], []),
    ):
        write_reference(folder / "task_data", gaps=gaps)
        assert [line for line in printed(pgdl)["remarks"] if "generalization gaps" in line] == said


def test_a_hyperparameter_with_one_value_lowers_a_score_and_is_said(pgdl: Pgdl, folder: Path, record: Record) -> None:
    record(rows("mine"))
    write_reference(folder / "task_data", sizes=(2, 2, 2, 1))
    found = printed(pgdl)
    assert found["score"] < 100 * OFFICIAL
    pairs = found["tasks"]["toy"]["official_pairs"]
    assert "axis_d" in min(pairs, key=pairs.get)
    assert "toy: axis_d has one value, 0, in all models: it cannot order them, but" in str(found["remarks"])


@pytest.mark.skipif(not SCORES.is_file(), reason=f"no competition data: {SCORES} does not exist")
@pytest.mark.parametrize("submission", ["VPM_1", "VPM_80", "VR", "WCV"])
def test_real_submissions_have_the_scores_that_the_competition_gave_them(submission: str, pgdl: Pgdl) -> None:
    found = printed(pgdl, "--reference", DATA / "reference_data", "--predictions", DATA / "predictions" / submission)
    official = json.loads(SCORES.read_text())[submission]
    assert {task: score["official"] / 100 for task, score in found["tasks"].items()} == pytest.approx(
        official, rel=0, abs=1e-12
    )
    assert found["score"] == pytest.approx(100 * sum(official.values()) / len(official), rel=0, abs=1e-10)
