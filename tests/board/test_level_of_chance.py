"""Tests of the level of chance and of p-values: which tasks count, and equal values from the cache."""

from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, collect, references, rows

from harness.board import chance
from harness.board.leaderboard import build_board
from harness.board.row import Row
from harness.task.task_notes import N_PERMUTATIONS
from harness.text import p_value_equation, p_value_text
from scoring import adjusted_p_values, compare_with_chance, p_values


def shown(directory: Path, values: list[float] = MEASURE, withheld: tuple[str, ...] = ()) -> Row:
    known = references(directory)
    records = [one for task in known for one in rows("mine", values, task)]
    return build_board(collect(records, known), known, withheld).rows[0]


def test_they_are_those_of_all_tasks_together(tmp_path: Path) -> None:
    (reference, *_) = references(tmp_path).values()
    expected = compare_with_chance(MEASURE, GAPS, reference.grid, N_PERMUTATIONS)
    row = shown(tmp_path)
    assert [task.chance for task in row.tasks.values()] == [expected] * len(row.tasks)
    assert row.chance_level == pytest.approx(100 * expected.level)
    assert row.p_value == row.adjusted_p_value == p_values([dict.fromkeys(row.tasks, expected)])[0]
    assert row.excess == pytest.approx(100 * expected.excess)


def test_they_are_adjusted_for_the_number_of_ranked_rows(tmp_path: Path) -> None:
    known = references(tmp_path)
    everything = [*rows("good", GAPS), *rows("fair", MEASURE), *rows("outside", GAPS, sandbox="none")]
    found = build_board(collect(everything, known), known).rows
    ranked = [{"toy": row.tasks["toy"].chance} for row in found if row.rank is not None]
    expected = adjusted_p_values(ranked).tolist()  # type: ignore[arg-type]
    assert [row.adjusted_p_value for row in found] == [*expected, None]
    assert [row.tasks["toy"].adjusted_p_value for row in found] == [*expected, None]
    assert found[-1].p_value == found[0].p_value


def test_many_rows_have_half_the_permutations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance, "MANY", 0)
    dealt = shown(tmp_path).tasks["toy"].chance
    assert dealt is not None
    assert {scores.size for scores in dealt.dealt.values()} == {N_PERMUTATIONS // 2}


def test_of_a_hidden_task_nothing_is_said_and_of_the_others_it_is(tmp_path: Path) -> None:
    names = list(references(tmp_path))
    row = shown(tmp_path, withheld=(names[0],))
    assert row.tasks[names[0]].chance is None
    assert shown(tmp_path, withheld=tuple(names)).p_value is None


def test_what_is_cached_is_found_again_and_damage_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    first = shown(tmp_path)
    (entry,) = (tmp_path / "cache" / "chance").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(chance, "compare_with_chance", lambda *_: pytest.fail("computed again"))
        assert shown(tmp_path).tasks["toy"].chance == first.tasks["toy"].chance
        assert shown(tmp_path, [value**3 for value in MEASURE]).p_value == first.p_value  # only their order counts
    content = entry.read_bytes()
    for damage in (b"", b"{}", content[:-30], content.replace(b"dealt", b"found")):
        entry.write_bytes(damage)
        assert shown(tmp_path).tasks["toy"].chance == first.tasks["toy"].chance


def test_a_board_needs_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "file" / "below"))
    assert shown(tmp_path).p_value is not None


def test_a_p_value_is_never_printed_as_0() -> None:
    assert [p_value_text(p) for p in (None, 1.0, 0.01234, 0.0001, 0.00009, 1e-30)] == [
        "-", "1.0000", "0.0123", "0.0001", "<0.0001", "<0.0001",
    ]  # fmt: skip
    assert [p_value_equation(p) for p in (0.01234, 1e-30)] == ["p = 0.0123", "p < 0.0001"]
