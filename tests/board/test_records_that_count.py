"""Tests of the records that count for a score (of one version, in one configuration, on the current models), and of
remarks on them."""

from collections.abc import Sequence
from typing import Any

import pytest
from board_examples import MEASURE, MODELS, OFFICIAL, Known, board_of, collect, failed, rows

from harness.board import remarks
from harness.board.collect import Calls, Collected
from harness.board.formats import find
from harness.board.leaderboard import build_board, score_calls
from harness.outcome import Outcome
from harness.records import Evaluation
from harness.task.contents import Contents
from scoring import TaskScore
from tests.records.evaluation_rows import request


def values(calls: Calls, task: str = "toy") -> dict[str, float | None]:
    return {model: row.value for (of, model), row in calls.rows.items() if of == task}


def only(evaluations: list[Evaluation], known: Known) -> Calls:
    (calls,) = collect(evaluations, known).shown
    return calls


def test_the_newest_record_of_a_model_counts_even_a_failure(known: Known) -> None:
    again = only([*rows("margin"), *rows("margin", {"model_3": 33.0})], known)
    assert values(again) == dict(zip(MODELS, MEASURE, strict=True)) | {"model_3": 33.0}
    crashed = only([*rows("margin"), failed("margin", "model_3", Outcome.CRASH)], known)
    assert score_calls(crashed, known).tasks["toy"] == "1 of 8 calls gave no value (model_3: CRASH)"


def shown(collected: Collected) -> list[tuple[str, str]]:
    return [(calls.submission, calls.version) for calls in collected.shown]


def said(collected: Collected) -> list[str]:
    """Return the remarks, except those on equal submissions: all submissions here have the same files and values."""
    lines = remarks.remarks_on_records(collected, lambda calls: f"RENEW {[one.submission for one in calls]}")
    return [line for line in lines if not line.startswith("the same ")]


def test_the_version_that_was_asked_for_last_counts_whatever_ran_last(known: Known) -> None:
    """A return to an earlier version whose calls are all recorded makes a request, but no new record."""
    first, second = rows("margin", submission_digest="v1"), rows("margin", [0.0] * 8, submission_digest="v2")
    asked = [request(first[0]), request(second[0]), request(first[0])]
    collected = collect([*first, *second], known, asked)
    assert shown(collected) == [("margin", "v1")]
    assert values(collected.shown[0]) == dict(zip(MODELS, MEASURE, strict=True))
    (line,) = said(collected)
    assert line == "margin: version v1, most recently requested 2026-01-02 03:04 UTC; not shown: v2"


def test_a_version_that_ran_elsewhere_only_does_not_take_the_row(known: Known, single: Known) -> None:
    first = rows("margin", submission_digest="v1")
    second = rows("margin", submission_digest="v2", task="second")
    asked = [request(first[0]), request(second[0])]
    assert shown(collect([*first, *second], single, asked)) == [("margin", "v1")]
    both = collect([*first, *second], known, asked)
    assert shown(both) == [("margin", "v2")]
    assert said(both)[0].endswith("not shown: v1")


def test_without_requests_the_version_counts_that_ran_last_and_all_are_shown_if_asked_for(known: Known) -> None:
    records = [*rows("margin", submission_digest="v1"), *rows("margin", {"model_0": 9.0}, submission_digest="v2")]
    assert values(only(records, known)) == {"model_0": 9.0}
    assert shown(collect(records, known, everything=True)) == [("margin", "v1"), ("margin", "v2")]


def test_rows_of_the_same_name_have_different_labels(known: Known) -> None:
    alone = rows("alone", submission_digest="v1")
    several = [rows("margin", submission_digest=version) for version in ("v1", "v2")]
    several.append(rows("margin", submission_digest="v2", versions="numpy 9"))
    several.append(rows("margin", submission_digest="v1", sandbox="none"))
    everything = [row for records in (alone, *several) for row in records]
    board = build_board(collect(everything, known, everything=True), known)
    configurations = {row.configuration.id for row in board.rows if row.version == "v2" and row.configuration}
    assert {row.label for row in board.rows} == {
        "alone", "margin (version v1)", "margin (not sandboxed)",
        *(f"margin (version v2, configuration {configuration})" for configuration in configurations),
    }  # fmt: skip


def test_settings_that_differ_have_labels_that_differ(known: Known) -> None:
    limits: list[dict[str, Any]] = [{}, {"time_limit_s": 100.00001}, {"time_limit_s": 100.00002}]
    limits += [{"memory_limit_bytes": 2**30 + 1}, {"memory_limit_bytes": 2**30}]
    shown = collect([row for columns in limits for row in rows("margin", **columns)], known).shown
    labels = remarks.settings_labels(shown)
    assert (len(set(labels)), any(label.endswith("memory 1 GiB") for label in labels)) == (len(limits), True)
    shown = collect([*rows("a"), *rows("b"), *rows("c", sandbox="landlock")], known).shown
    assert remarks.settings_labels(shown) == ["", "", "sandbox landlock"], "the sandbox of most rows is not named"
    assert remarks.settings_labels([Calls("one", True, {}), Calls("two", True, {})]) == ["", ""], "no configuration"


@pytest.mark.parametrize(
    "columns",
    [
        {"run_seed": 1}, {"runtime": "keras2"}, {"time_limit_s": 60.0}, {"time_budget": "average"},
        {"memory_limit_bytes": 1 << 30}, {"sandbox": "landlock"}, {"sandbox": "none"},
    ],
)  # fmt: skip
def test_calls_of_different_settings_are_never_mixed(columns: dict[str, object], known: Known) -> None:
    collected = collect([*rows("margin"), *rows("margin", {"model_3": 33.0}, **columns)], known)
    assert [len(calls.rows) for calls in collected.shown] in ([8, 1], [1, 8])


def test_how_a_sandbox_was_started_makes_no_difference(known: Known) -> None:
    started = [rows("margin", MEASURE[:n], sandbox=f"bubblewrap/{how}") for n, how in ((8, "fast"), (4, "fresh"))]
    assert values(only([row for made in started for row in made], known)) == dict(zip(MODELS, MEASURE, strict=True))


@pytest.mark.parametrize("columns", [{"harness_version": "0.0.9"}, {"versions": "keras 2.0"}])
def test_of_other_versions_of_libraries_those_asked_for_last_count(columns: dict[str, object], known: Known) -> None:
    old, new = rows("margin", **columns), rows("margin", {"model_0": 5.0})
    assert values(only([*old, *new], known)) == {"model_0": 5.0}
    back = collect([*old, *new], known, [request(new[0]), request(old[0])])
    assert len(back.shown[0].rows) == 8
    other = [*old, *rows("usual"), *rows("another")]
    assert [line.partition(" (")[0] for line in said(collect(other, known))] == [
        "made with other versions than most rows"
    ]


def of_contents(evaluations: Sequence[Evaluation]) -> dict[str, Contents]:
    return {
        task: Contents(
            {row.model: row.model_digest for row in evaluations if row.task == task},
            next(row.data_digest for row in evaluations if row.task == task),
        )
        for task in {row.task for row in evaluations}
    }


def test_records_of_models_that_were_changed_since_do_not_count(single: Known) -> None:
    """Half of the models have new weights: the old score, with 8 of 8 values, would be wrong without a word."""
    made = rows("margin")
    now = of_contents(made)["toy"]
    changed = {model: "other" if model in MODELS[:4] else digest for model, digest in now.models.items()}
    contents = {"toy": Contents(changed, now.data)}
    collected = collect(made, single, contents=contents)
    (calls,) = collected.shown
    assert {model for (_, model) in calls.rows} == set(MODELS[4:])
    assert calls.stale == {("toy", model) for model in MODELS[:4]}
    reason = "4 of 8 calls gave no value (model_0: stale, model_1: stale, model_2: stale, ...)"
    assert score_calls(calls, single).tasks["toy"] == reason
    assert said(collected) == [
        "stale: records of margin (4 on toy) were made with an earlier version of the task and do not count; "
        "to renew them: RENEW ['margin']"
    ]
    renewed = rows("margin", dict.fromkeys(MODELS[:4], 1.0), model_digest="other")
    (calls,) = collect([*made, *renewed], single, contents=contents).shown
    assert (len(calls.rows), calls.stale) == (8, frozenset())
    several = [row for name in "abcde" for row in rows(name)]
    assert said(collect(several, single, contents={"toy": Contents(dict.fromkeys(MODELS, "other"), None)})) == [
        "stale: records of a, b, c, d, e (8 on toy) were made with an earlier version of the task and do not "
        "count; to renew them: RENEW ['a', 'b', 'c', 'd', 'e']"
    ]


def test_records_of_other_data_or_of_models_that_are_gone_do_not_count(known: Known) -> None:
    """Records of a model that is gone are not stale, since no call can renew them."""
    made = rows("margin")
    now = of_contents(made)["toy"]
    (calls,) = collect(made, known, contents={"toy": Contents(now.models, "other data")}).shown
    assert (len(calls.rows), len(calls.stale)) == (0, 8)
    left = {model: digest for model, digest in now.models.items() if model != "model_3"}
    collected = collect(made, known, contents={"toy": Contents(left, now.data)})
    assert (len(collected.shown[0].rows), collected.shown[0].stale, said(collected)) == (7, frozenset(), [])


def test_other_tasks_and_models_do_not_count_and_a_model_without_a_record_is_missing(known: Known) -> None:
    """Such records remain if models or tasks are removed after a run."""
    others = [*rows("margin", {"model_0": 1.0}, task="unknown"), *rows("margin", {"model_99": 1.0})]
    calls = only([*rows("margin", MEASURE[:6]), *others], known)
    assert set(calls.rows) == {("toy", model) for model in MODELS[:6]}
    assert score_calls(calls, known).tasks["toy"] == "2 of 8 calls gave no value (model_6: missing, model_7: missing)"
    assert collect([*rows("elsewhere", task="unknown"), *rows("odd", {"model_99": 1.0})], known).shown == []


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_a_failed_call_leaves_its_task_out_and_one_over_its_time_makes_the_whole_score_0(
    outcome: Outcome, known: Known
) -> None:
    made = [*rows("margin", MEASURE, [*known]), failed("margin", "model_5", outcome)]
    score, exceeded = score_calls(only(made, known), known), outcome is Outcome.TIMEOUT
    assert str(score.tasks["toy"]).endswith(f"1 of 8 calls gave no value (model_5: {outcome})")
    assert isinstance(score.tasks["second"], TaskScore)
    expected = (0.0 if exceeded else pytest.approx(100 * OFFICIAL), False, exceeded)
    assert (score.score, score.complete, score.exceeded) == expected


FILES = "the same files under several names: one, two"
VALUES = "the same values on every model: one, two"
ONE, TWO = rows("one", submission_digest="a"), rows("two", submission_digest="b")


def same(records: Sequence[Evaluation], known: Known, withheld: Sequence[str] = ()) -> list[str]:
    return [line for line in board_of(records, known, withheld).remarks if line.startswith("the same ")]


def two(values: list[float]) -> list[Evaluation]:
    return [row for name in ("one", "two") for row in rows(name, values, submission_digest=name)]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([*rows("one"), *rows("two")], [FILES]),
        ([*ONE, *TWO], [VALUES]),
        ([*ONE, *rows("two", submission_digest="c", is_baseline=True)], [VALUES]),
        ([*rows("l2_norm", is_baseline=True), *rows("l2_norm(p=2)", is_baseline=True)], []),
        (two([1.0] * 8), []),
        (two([1.0, 2.0, 3.0] * 2 + [1.0, 2.0]), []),
        (two(MEASURE[:3]), []),
        ([*ONE, *rows("two", [*MEASURE[:-1], 6.0000000000000009], submission_digest="b")], []),
        ([*ONE, *TWO, *rows("two", submission_digest="b", task="second")], []),
        ([*ONE, *TWO, failed("two", "model_0", Outcome.CRASH, submission_digest="b")], []),
    ],
    ids=[
        "the same files", "the same values", "a copied baseline", "measures of the library", "a constant",
        "small counts", "few values", "another last digit", "another task", "another outcome",
    ],
)  # fmt: skip
def test_a_remark_names_submissions_that_are_the_same(
    records: Sequence[Evaluation], expected: list[str], known: Known
) -> None:
    assert same(records, known) == expected
    assert same(records, known, ["toy", "second"]) == expected, "of hidden tasks the fact is said"


def test_remarks_stand_in_formats_for_readers_and_in_json(known: Known) -> None:
    board = board_of([*rows("one"), *rows("two"), *rows("Tw-o"), *rows("other")], known)
    assert "names that could be mistaken for each other: Tw-o, two" in board.remarks
    for form in ("table", "markdown", "json"):
        assert board.remarks[0] in str(find(form).render(board)), form
