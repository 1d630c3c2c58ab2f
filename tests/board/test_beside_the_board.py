"""Tests of the scores beside the board (noisy oracle, hyperparameters alone), and of marks for surely better rows."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, collect, compare, rows, write_reference

from harness.board.board import Board
from harness.board.collect import Collected
from harness.board.columns import BEYOND, BEYOND_NOTE
from harness.board.formats import find, table
from harness.board.leaderboard import build_board
from harness.board.yardsticks import ScoreSpread, Yardstick, Yardsticks, score_yardsticks
from harness.format.reference import Reference, read_reference
from harness.tables import wide_console
from harness.task.layout import TaskDirectory
from scoring import ORACLE_DRAWS, HeldOut, additive_fit, noisy_oracle, official_score, oracle_scores


def with_oracle(known: dict[str, Reference]) -> Board:
    both = [row for task in known for row in (*rows("best", GAPS, task), *rows("other", MEASURE, task))]
    held_out = {name: HeldOut([0.5] * 8, 100) for name in known}
    return build_board(collect(both, known), known, held_out=held_out)


def explained(board: Board) -> list[str]:
    """Return the board in all formats for readers, with explanations."""
    text = io.StringIO()
    table.show(board, wide_console(file=text), wide=True)
    return [text.getvalue(), *(str(find(name).render(board)) for name in ("markdown", "latex"))]


def test_the_oracle_changes_no_rank_interval_or_group(
    known: dict[str, Reference], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = with_oracle(known)
    assert [row.submission for row in usual.rows] == ["best", "other"]
    other = Yardsticks(Yardstick.of(dict.fromkeys(known, ScoreSpread(1.0, 0.1)), known))
    monkeypatch.setattr("harness.board.leaderboard.score_yardsticks", lambda *_: other)
    assert replace(with_oracle(known), yardsticks=usual.yardsticks) == usual


def test_each_draw_is_scored_as_a_measure_is(known: dict[str, Reference]) -> None:
    grid = known["toy"].grid
    scores = oracle_scores(GAPS, grid, seed=5)
    draws = noisy_oracle([GAPS] * ORACLE_DRAWS, seed=5)
    assert scores[:9].tolist() == pytest.approx([official_score(draw, GAPS, grid).score for draw in draws[:9]])


def test_it_is_the_mean_of_many_draws_and_the_same_every_time(known: dict[str, Reference]) -> None:
    oracle = score_yardsticks(known, known).oracle
    assert oracle == score_yardsticks(known, known).oracle
    toy, second = oracle.tasks["toy"], oracle.tasks["second"]
    assert toy is not None
    assert second is not None
    assert toy != second, "tasks that are alike have draws of their own"
    error = 4 * (toy.deviation**2 / ORACLE_DRAWS * 2) ** 0.5
    assert toy.mean == pytest.approx(second.mean, abs=error)
    assert oracle.score is not None
    assert oracle.score.mean == pytest.approx((toy.mean + second.mean) / 2)
    assert oracle.score.deviation == pytest.approx((toy.deviation**2 + second.deviation**2) ** 0.5 / 2)


def test_every_format_with_explanations_says_what_the_oracle_is(known: dict[str, Reference]) -> None:
    found = with_oracle(known)
    assert found.content["oracle"]["tasks"].keys() == known.keys()
    assert found.content["oracle"]["draws"] == ORACLE_DRAWS
    for text in explained(found):
        assert found.yardsticks.oracle.score is not None
        assert f"noisy oracle: {found.yardsticks.oracle.score.text()}" in text.replace("\\", "")
    assert "oracle" not in str(find("csv").render(found))


def test_it_is_there_even_when_nobody_else_is_and_nobody_can_take_its_place(known: dict[str, Reference]) -> None:
    for records in ([], rows("noisy_oracle", [1.0] * 8)):
        found = build_board(collect(records, known), known)
        assert [row.kind for row in found.rows] == ["submission"] * bool(records)
        assert found.yardsticks == score_yardsticks(known, known)


def test_of_a_withheld_task_and_of_a_mean_with_one_it_says_nothing(known: dict[str, Reference]) -> None:
    oracle = score_yardsticks({"second": known["second"]}, known).oracle
    assert oracle == Yardstick(score_yardsticks(known, known).oracle.tasks | {"toy": None}, None)


def test_where_no_task_has_an_official_score_nobody_ranks_whoever_failed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    directory = write_reference(tmp_path_factory.mktemp("flat"), "flat", sizes=(4, 2))
    flat = {name: read_reference(path) for name, path in TaskDirectory(directory).references().items()}
    found = build_board(collect([*rows("whole", GAPS, "flat"), *rows("half", GAPS[:4], "flat")], flat), flat)
    assert found.yardsticks.oracle == Yardstick({"flat": None}, None)
    assert {row.submission: row.rank for row in found.rows} == {"whole": None, "half": None}
    expected = "noisy oracle: none, because no submission can have an official score on these tasks."
    assert found.yardsticks.note_on_oracle == expected
    assert (found.yardsticks.fit, found.yardsticks.notes_on_fit) == (Yardstick({"flat": None}, None), [])


SHIPPED = Path(__file__).parents[2] / "task_data"

#: Of a grid of 2^4, with a strong interaction.
LARGE = [0.31, 0.02, 0.11, 0.42, 0.07, 0.25, 0.36, 0.18, 0.29, 0.05, 0.14, 0.47, 0.01, 0.22, 0.39, 0.16]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reference]:
    directory = write_reference(tmp_path_factory.mktemp("reference"), "large", LARGE, (2, 2, 2, 2))
    return {name: read_reference(path) for name, path in TaskDirectory(directory).references().items()}


def board(known: dict[str, Reference], gaps: list[float] = GAPS, withheld: tuple[str, ...] = ()) -> Board:
    records = [row for task in known for row in rows("best", _named(gaps), task)]
    fit = additive_fit(gaps, next(iter(known.values())).grid).tolist()
    records += [row for task in known for row in rows("fit", _named(fit), task)]
    return build_board(collect([*records, *rows("half", _named(gaps[:4]), next(iter(known)))], known), known, withheld)


def _named(values: list[float]) -> dict[str, float]:
    return {f"model_{number}": value for number, value in enumerate(values)}


def test_the_fit_in_sample_scores_what_it_would_as_a_submission(known: dict[str, Reference]) -> None:
    found = board(known)
    (fit,) = (row for row in found.rows if row.submission == "fit")
    alone = found.yardsticks.fit
    assert alone.score is not None
    assert alone.score.mean == pytest.approx(fit.score)
    assert {name: one and f"{one.mean:.9f}" for name, one in alone.tasks.items()} == {
        name: f"{task.official:.9f}" for name, task in fit.tasks.items()
    }


def test_on_the_shipped_tasks() -> None:
    shipped = {name: read_reference(path) for name, path in TaskDirectory(SHIPPED).references().items()}
    found = score_yardsticks(shipped, shipped).content["hyperparameters"]
    assert found["in_sample"]["score"] == pytest.approx(14.9587, abs=1e-4)
    assert found["in_sample"]["tasks"].keys() == shipped.keys()


def test_every_format_with_explanations_says_what_they_score(known: dict[str, Reference]) -> None:
    found = board(known)
    score = found.yardsticks.fit.score
    assert score is not None
    for text in explained(found):
        assert f"hyperparameters: {score.text()}, the score of" in " ".join(text.split())
    told = json.loads(str(find("json").render(found)))["hyperparameters"]
    assert told["in_sample"]["score"] == pytest.approx(score.mean)
    assert told["in_sample"]["tasks"].keys() == known.keys()
    assert "fitted" not in str(find("csv").render(found))
    notes = compare(rows("vc_dim", MEASURE), {"toy": known["toy"]}, {"vc_dim": "size"}).notes
    assert any(note.startswith("hyperparameters: ") for note in notes)
    assert build_board(Collected([]), known).yardsticks == found.yardsticks


def test_rows_that_tell_more_are_marked(large: dict[str, Reference]) -> None:
    found = board(large, LARGE)
    marks = {"best": True, "fit": False, "half": None}
    assert {row.submission: BEYOND.value(row) for row in found.rows} == marks
    assert {row.submission: BEYOND.shown(row) for row in found.rows} == {"best": "yes", "fit": "-", "half": "-"}
    assert BEYOND_NOTE in found.notes
    lines = csv.DictReader(io.StringIO(str(find("csv").render(found))))
    assert {line["submission"]: line[BEYOND.key] for line in lines} == {"best": "True", "fit": "False", "half": ""}
    assert {one["submission"]: one[BEYOND.key] for one in found.content["rows"]} == marks


def test_hidden_tasks_show_no_figure_and_no_marks(known: dict[str, Reference]) -> None:
    found = board(known, withheld=("second",))
    told = found.yardsticks
    assert (told.fit.tasks["second"], told.fit.score, told.notes_on_fit) == (None, None, [])
    assert {BEYOND.value(row) for row in found.rows} == {None}
    assert BEYOND not in found.columns


def test_figures_of_public_tasks_do_not_depend_on_hidden_gaps(known: dict[str, Reference]) -> None:
    hidden = replace(known["second"], train_accuracy=dict(zip(known["second"].models, MEASURE, strict=True)))
    public = {"toy": known["toy"], "third": known["toy"]}
    one, other = (
        build_board(Collected([]), {**public, "second": second}, ["second"]).yardsticks
        for second in (known["second"], hidden)
    )
    assert one == other
    assert None not in [one.fit.tasks[name] for name in public]
