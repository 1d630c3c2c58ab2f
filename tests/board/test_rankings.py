"""Tests of the certainty of scores and ranks: level of chance, p-values, and intervals, also on other tasks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_examples import (
    GAPS,
    MEASURE,
    Known,
    board_of,
    by_name,
    compare,
    failed,
    in_csv,
    in_json,
    over_tasks,
    references,
    rows,
)
from scipy.stats import wilcoxon

from harness.board import chance
from harness.board.across_tasks import across_tasks, pairs_across_tasks
from harness.board.board import Board
from harness.board.rankings import FEW_TASKS_NOTE, OTHER_TASKS_NOTE, held_out_sets
from harness.board.row import Row
from harness.outcome import Outcome
from harness.text import p_value_equation, p_value_text
from scoring import (
    HeldOut,
    TaskCalls,
    adjusted_p_values,
    compare_mean_ranks,
    compare_submissions,
    compare_with_chance,
    difference_on_other_tasks,
    mean_on_other_tasks,
    p_values,
)

CLOSE = [gap + 0.001 for gap in GAPS]
N_PERMUTATIONS = 100


@pytest.fixture(autouse=True)
def _few_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance, "N_PERMUTATIONS", N_PERMUTATIONS)


def board(single: Known, withheld: Sequence[str] = (), **arguments: Any) -> Board:
    evaluations = [*rows("best", CLOSE), *rows("weak"), *rows("outside", GAPS, sandbox="none")]
    return board_of([*evaluations, *rows("half", MEASURE[:7])], single, withheld, **arguments)


def test_standings_are_those_among_the_rows_that_rank_and_hold_score_and_rank(single: Known) -> None:
    (reference,) = single.values()
    named = {
        name: {"toy": TaskCalls(reference.grid, reference.gaps, dict(zip(reference.models, values, strict=True)))}
        for name, values in (("best", CLOSE), ("weak", MEASURE))
    }
    found = by_name(board(single))
    assert {name: row.standing for name, row in found.items()} == {
        **compare_submissions(named).standings, "outside": None, "half": None,
    }  # fmt: skip
    for row in (found["best"], found["weak"]):
        assert row.standing.low <= row.standing.score <= row.standing.high
        assert row.standing.score == pytest.approx(row.score)
        assert row.standing.best_rank <= row.rank <= row.standing.worst_rank


def test_test_sets_tell_the_part_of_the_error_that_is_due_to_them(single: Known) -> None:
    """Test sets are known if the number of test samples is known for every task."""
    without, given = (by_name(board(single, held_out=sets)) for sets in (None, {"toy": HeldOut([0.5] * 8, 100)}))
    for name in ("best", "weak"):
        one, other = without[name].standing, given[name].standing
        assert (one.gap_error, other.error) == (None, one.error)
    assert 0 < given["weak"].standing.gap_error <= given["weak"].standing.error
    assert held_out_sets(single, {"toy": 100}) == {"toy": HeldOut([0.0] * 8, 100)}
    assert held_out_sets(single, {"toy": None}) is held_out_sets(single, {}) is None


def test_nothing_is_said_of_a_hidden_task(single: Known) -> None:
    found = board(single, withheld=["toy"])
    assert "interval" not in found.headings
    assert {row.standing for row in found.rows} == {row["standing"] for row in in_json(found).values()} == {None}
    assert {line["low"] for line in in_csv(found).values()} == {""}


COMPARED = ["best", "fair", "weak"]


def made(directory: Path, n_tasks: int, withheld: Sequence[str] = ()) -> tuple[Board, np.ndarray]:
    """Return the board of `over_tasks`, and its scores: a row for each task, and a column for each of COMPARED."""
    names = [f"task{number}" for number in range(n_tasks)]
    found = board_of(over_tasks(*names), references(directory, *names), withheld)
    rows = by_name(found)
    return found, np.array([[rows[name].tasks[task].official for name in COMPARED] for task in found.tasks])


def test_the_interval_on_other_tasks_covers_that_of_new_trainings(tmp_path: Path) -> None:
    found, scores = made(tmp_path, 4)
    cells = {row.submission: dict(zip(found.headings, found.cells(row), strict=True)) for row in found.rows}
    for name, (tasks_low, tasks_high) in zip(COMPARED, mean_on_other_tasks(scores), strict=True):
        standing = by_name(found)[name].standing
        low, high = min(tasks_low, standing.low), max(tasks_high, standing.high)
        assert (standing.tasks_low, standing.tasks_high) == pytest.approx((low, high))
        assert cells[name]["other tasks"] == f"{low:.1f}-{high:.1f}"
    assert cells["half"]["other tasks"] == "-"
    assert (OTHER_TASKS_NOTE in found.notes, FEW_TASKS_NOTE in found.notes) == (True, False)
    known = references(tmp_path, *found.tasks)
    compared = compare(over_tasks(*found.tasks), known, dict.fromkeys(COMPARED, "size"))
    assert ("other tasks" in compared.headings, compared.notes[-1]) == (True, OTHER_TASKS_NOTE)
    fair = compared.content[1]
    assert fair["tasks_low"] < fair["score"] < fair["tasks_high"]


def test_few_or_hidden_tasks_and_empty_boards_say_nothing(tmp_path: Path) -> None:
    few, hidden, empty = made(tmp_path, 3)[0], made(tmp_path, 6, ["task5"])[0], board_of([], {})
    assert few.notes.count(FEW_TASKS_NOTE) == 1
    for found in (few, hidden, empty):
        assert (OTHER_TASKS_NOTE in found.notes, FEW_TASKS_NOTE in found.notes) == (False, found is few)
        assert "other tasks" not in found.headings
        assert (found.content["across_tasks"], across_tasks(found)) == (None, None)
        assert all(pairs_across_tasks(found, number) == {} for number in range(len(found.rows)))


def test_mean_ranks_and_every_two_rows_for_programs(tmp_path: Path) -> None:
    found, scores = made(tmp_path, 6)
    expected, content = compare_mean_ranks(scores), found.content["across_tasks"]
    assert content["tasks"] == 6
    assert content["friedman_p_value"] == pytest.approx(expected.p_value)
    assert content["critical_difference"] == pytest.approx(expected.critical_difference)
    ranks = dict(zip(COMPARED, expected.mean_ranks, strict=True))
    assert {line["submission"]: line["mean_rank"] for line in content["rows"]} == ranks
    assert content["rows"][0] == {"row": 0, "submission": "best", "mean_rank": min(expected.mean_ranks)}
    assert all(found.rows[line["row"]].submission == line["submission"] for line in content["rows"])
    assert [(group["first"], group["last"]) for group in content["groups"]] == [*expected.groups]
    number = {row.submission: number for number, row in enumerate(found.rows)}
    pairs, differences = pairs_across_tasks(found, number["best"]), scores[:, :1] - scores
    assert (set(pairs), pairs_across_tasks(found, number["half"])) == ({number[name] for name in COMPARED}, {})
    pair = pairs[number["fair"]]
    assert (pair.low, pair.high) == pytest.approx(tuple(difference_on_other_tasks(differences)[1]))
    assert pair.p_value == pytest.approx(wilcoxon(differences[:, 1]).pvalue)


def shown(known: Known, values: list[float] = MEASURE, withheld: tuple[str, ...] = ()) -> Row:
    return board_of(rows("mine", values), known, withheld).rows[0]


def test_chance_and_p_values_are_those_of_all_tasks_together_but_hidden_ones(known: Known) -> None:
    expected = compare_with_chance(MEASURE, GAPS, known["toy"].grid, N_PERMUTATIONS)
    found = board_of(rows("mine", MEASURE, [*known]), known).rows[0]
    assert {name: task.chance for name, task in found.tasks.items()} == dict.fromkeys(known, expected)
    assert (found.chance_level, found.excess) == pytest.approx((100 * expected.level, 100 * expected.excess))
    assert found.p_value == found.adjusted_p_value == p_values([dict.fromkeys(known, expected)])[0]
    assert shown(known, withheld=("toy",)).tasks["toy"].chance is None
    assert shown(known, withheld=("toy", "second")).p_value is None


def test_p_values_are_adjusted_for_the_number_of_ranked_rows(single: Known) -> None:
    everything = [*rows("good", GAPS), *rows("fair", MEASURE), *rows("outside", GAPS, sandbox="none")]
    found = board_of(everything, single).rows
    ranked = [{"toy": row.tasks["toy"].chance} for row in found if row.rank is not None]
    expected = [*adjusted_p_values(ranked).tolist(), None]
    assert [row.adjusted_p_value for row in found] == expected
    assert [row.tasks["toy"].adjusted_p_value for row in found] == expected
    assert found[-1].p_value == found[0].p_value


def test_a_score_that_is_0_because_of_a_timeout_is_compared_with_no_chance(known: Known) -> None:
    late = [*rows("late", GAPS, [*known]), failed("late", "model_0", Outcome.TIMEOUT, max(known))]
    row = board_of(late, known).rows[0]
    assert (row.score, row.chance_level, row.excess, row.p_value) == (0, None, None, None)
    assert [task.p_value is None for _, task in sorted(row.tasks.items())] == [False, True], "a task has its own"


def test_many_rows_have_half_the_permutations(single: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance, "MANY", 0)
    dealt = shown(single).tasks["toy"].chance.dealt
    assert {scores.size for scores in dealt.values()} == {N_PERMUTATIONS // 2}


def test_chance_in_the_cache_is_found_again_and_damage_is_not(
    single: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    first = shown(single)
    (entry,) = (tmp_path / "cache" / "chance").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(chance, "compare_with_chance", lambda *_: pytest.fail("computed again"))
        assert shown(single).tasks["toy"].chance == first.tasks["toy"].chance
        assert shown(single, [value**3 for value in MEASURE]).p_value == first.p_value  # only their order counts
    content = entry.read_bytes()
    for damage in (b"", b"{}", content[:-30], content.replace(b"dealt", b"found")):
        entry.write_bytes(damage)
        assert shown(single).tasks["toy"].chance == first.tasks["toy"].chance


def test_a_board_needs_no_cache(single: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "file" / "below"))
    assert shown(single).p_value is not None


def test_a_p_value_is_never_printed_as_0() -> None:
    assert [p_value_text(p) for p in (None, 1.0, 0.01234, 0.0001, 0.00009, 1e-30)] == [
        "-", "1.0000", "0.0123", "0.0001", "<0.0001", "<0.0001",
    ]  # fmt: skip
    assert [p_value_equation(p) for p in (0.01234, 1e-30)] == ["p = 0.0123", "p < 0.0001"]
