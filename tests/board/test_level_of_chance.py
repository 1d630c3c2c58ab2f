"""Tests of the level of chance and of p-values: which tasks count, and equal values from the cache."""

from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, Known, board_of, failed, rows

from harness.board import chance
from harness.board.row import Row
from harness.outcome import Outcome
from harness.task.task_notes import N_PERMUTATIONS
from harness.text import p_value_equation, p_value_text
from scoring import adjusted_p_values, compare_with_chance, p_values


def shown(known: Known, values: list[float] = MEASURE, withheld: tuple[str, ...] = ()) -> Row:
    return board_of(rows("mine", values), known, withheld).rows[0]


def test_they_are_those_of_all_tasks_together_but_hidden_ones(known: Known) -> None:
    expected = compare_with_chance(MEASURE, GAPS, known["toy"].grid, N_PERMUTATIONS)
    found = board_of(rows("mine", MEASURE, [*known]), known).rows[0]
    assert {name: task.chance for name, task in found.tasks.items()} == dict.fromkeys(known, expected)
    assert (found.chance_level, found.excess) == pytest.approx((100 * expected.level, 100 * expected.excess))
    assert found.p_value == found.adjusted_p_value == p_values([dict.fromkeys(known, expected)])[0]
    assert shown(known, withheld=("toy",)).tasks["toy"].chance is None
    assert shown(known, withheld=("toy", "second")).p_value is None


def test_they_are_adjusted_for_the_number_of_ranked_rows(single: Known) -> None:
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


def test_what_is_cached_is_found_again_and_damage_is_not(
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
