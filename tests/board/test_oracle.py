"""The noisy oracle: a reference beside the board, without a rank and in no comparison."""

from dataclasses import replace

import pytest
from board_examples import GAPS, MEASURE, collect, rows, write_reference

from harness.board.board import Board
from harness.board.formats import find
from harness.board.leaderboard import build_board
from harness.board.yardsticks import Oracle, ScoreSpread, score_oracle
from harness.format.reference import Reference, read_reference
from harness.task.layout import TaskDirectory
from scoring import ORACLE_DRAWS, HeldOut, noisy_oracle, official_score, oracle_scores


def board(known: dict[str, Reference]) -> Board:
    both = [row for task in known for row in (*rows("best", GAPS, task), *rows("other", MEASURE, task))]
    held_out = {name: HeldOut([0.5] * 8, 100) for name in known}
    return build_board(collect(both, known), known, held_out=held_out)


def test_it_changes_no_rank_interval_or_group(known: dict[str, Reference], monkeypatch: pytest.MonkeyPatch) -> None:
    usual = board(known)
    assert [row.submission for row in usual.rows] == ["best", "other"]
    other = Oracle.of(dict.fromkeys(known, ScoreSpread(1.0, 0.1)))
    monkeypatch.setattr("harness.board.leaderboard.score_oracle", lambda *_: other)
    assert replace(board(known), oracle=usual.oracle) == usual


def test_each_draw_is_scored_as_a_measure_is(known: dict[str, Reference]) -> None:
    grid = known["toy"].grid
    scores = oracle_scores(GAPS, grid, seed=5)
    draws = noisy_oracle([GAPS] * ORACLE_DRAWS, seed=5)
    assert scores[:9].tolist() == pytest.approx([official_score(draw, GAPS, grid).score for draw in draws[:9]])


def test_it_is_the_mean_of_many_draws_and_the_same_every_time(known: dict[str, Reference]) -> None:
    oracle = score_oracle(known)
    assert oracle == score_oracle(known)
    toy, second = oracle.tasks["toy"], oracle.tasks["second"]
    assert toy is not None
    assert second is not None
    assert toy != second, "tasks that are alike have draws of their own"
    error = 4 * (toy.deviation**2 / ORACLE_DRAWS * 2) ** 0.5
    assert toy.mean == pytest.approx(second.mean, abs=error)
    assert oracle.score is not None
    assert oracle.score.mean == pytest.approx((toy.mean + second.mean) / 2)
    assert oracle.score.deviation == pytest.approx((toy.deviation**2 + second.deviation**2) ** 0.5 / 2)


def test_every_format_says_what_it_is(known: dict[str, Reference]) -> None:
    found = board(known)
    assert found.content["oracle"]["tasks"].keys() == known.keys()
    assert found.content["oracle"]["draws"] == ORACLE_DRAWS
    for name in ("table", "markdown", "latex"):
        text = str(find(name).render(found))
        assert found.oracle.score is not None
        assert f"noisy oracle: {found.oracle.score.text()}" in text.replace("\\", "")
    assert "oracle" not in str(find("csv").render(found))


def test_it_is_there_even_when_nobody_else_is_and_nobody_can_take_its_place(known: dict[str, Reference]) -> None:
    for records in ([], rows("noisy_oracle", [1.0] * 8)):
        found = build_board(collect(records, known), known)
        assert [row.kind for row in found.rows] == ["submission"] * bool(records)
        assert found.oracle == score_oracle(known)


def test_of_a_withheld_task_and_of_a_mean_with_one_it_says_nothing(known: dict[str, Reference]) -> None:
    oracle = score_oracle(known, ["toy"])
    assert oracle == Oracle(score_oracle(known).tasks | {"toy": None}, None)


def test_where_no_task_has_an_official_score_nobody_ranks_whoever_failed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    directory = write_reference(tmp_path_factory.mktemp("flat"), "flat", sizes=(4, 2))
    flat = {name: read_reference(path) for name, path in TaskDirectory(directory).references().items()}
    found = build_board(collect([*rows("whole", GAPS, "flat"), *rows("half", GAPS[:4], "flat")], flat), flat)
    assert found.oracle == Oracle.of({"flat": None})
    assert {row.submission: row.rank for row in found.rows} == {"whole": None, "half": None}
    assert found.oracle.note == "noisy oracle: none, because no submission can have an official score on these tasks."
