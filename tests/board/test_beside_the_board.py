"""Tests of the scores beside the board (noisy oracle, hyperparameters alone), and of marks for surely better rows."""

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, Known, board_of, by_name, compare, in_csv, in_json, references, rows

from harness.board.board import Board
from harness.board.columns import BEYOND, BEYOND_NOTE
from harness.board.formats import find, table
from harness.board.yardsticks import ScoreSpread, Yardstick, Yardsticks, score_yardsticks
from harness.format.reference import read_reference
from harness.tables import wide_console
from harness.task.layout import TaskDirectory
from scoring import ORACLE_DRAWS, HeldOut, additive_fit, noisy_oracle, official_score, oracle_scores

SHIPPED = Path(__file__).parents[2] / "task_data"

#: Of a grid of 2^4, with a strong interaction.
LARGE = [0.31, 0.02, 0.11, 0.42, 0.07, 0.25, 0.36, 0.18, 0.29, 0.05, 0.14, 0.47, 0.01, 0.22, 0.39, 0.16]


def board(known: Known, gaps: list[float] = GAPS, withheld: Sequence[str] = ()) -> Board:
    """A board of the gaps themselves, of the fit to hyperparameters, and of a submission that lacks values."""
    fit = additive_fit(gaps, next(iter(known.values())).grid).tolist()
    records = [
        row
        for name, values, tasks in (("best", gaps, [*known]), ("fit", fit, [*known]), ("half", gaps[:4], [*known][:1]))
        for row in rows(name, {f"model_{number}": value for number, value in enumerate(values)}, tasks)
    ]
    return board_of(records, known, withheld, held_out={name: HeldOut([0.5] * len(gaps), 100) for name in known})


def test_the_oracle_changes_no_rank_interval_or_group(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = board(known)
    other = Yardsticks(Yardstick.of(dict.fromkeys(known, ScoreSpread(1.0, 0.1)), known))
    monkeypatch.setattr("harness.board.leaderboard.score_yardsticks", lambda *_: other)
    assert replace(board(known), yardsticks=usual.yardsticks) == usual


def test_each_draw_is_scored_as_a_measure_is(known: Known) -> None:
    grid = known["toy"].grid
    scores = oracle_scores(GAPS, grid, seed=5)
    draws = noisy_oracle([GAPS] * ORACLE_DRAWS, seed=5)
    assert scores[:9].tolist() == pytest.approx([official_score(draw, GAPS, grid).score for draw in draws[:9]])


def test_it_is_the_mean_of_many_draws_and_the_same_every_time(known: Known) -> None:
    oracle = score_yardsticks(known, known).oracle
    assert oracle == score_yardsticks(known, known).oracle
    toy, second, mean = oracle.tasks["toy"], oracle.tasks["second"], oracle.score
    assert toy != second, "tasks that are alike have draws of their own"
    error = 4 * (toy.deviation**2 / ORACLE_DRAWS * 2) ** 0.5
    assert toy.mean == pytest.approx(second.mean, abs=error)
    deviation = (toy.deviation**2 + second.deviation**2) ** 0.5 / 2
    assert (mean.mean, mean.deviation) == pytest.approx(((toy.mean + second.mean) / 2, deviation))


def test_formats_with_explanations_say_what_both_are_and_score(known: Known) -> None:
    found, text = board(known), io.StringIO()
    oracle, fit = found.yardsticks.oracle.score, found.yardsticks.fit.score
    table.show(found, wide_console(file=text), wide=True)
    for shown in (text.getvalue(), *(str(find(name).render(found)) for name in ("markdown", "latex"))):
        assert f"noisy oracle: {oracle.text()}" in shown.replace("\\", "")
        assert f"hyperparameters: {fit.text()}, the score of" in " ".join(shown.split())
    assert not re.search("oracle|fitted", str(find("csv").render(found)))
    assert (found.content["oracle"]["tasks"].keys(), found.content["oracle"]["draws"]) == (known.keys(), ORACLE_DRAWS)
    told = found.content["hyperparameters"]["in_sample"]
    assert (told["score"], told["tasks"].keys()) == (pytest.approx(fit.mean), known.keys())
    notes = compare(rows("vc_dim", MEASURE), {"toy": known["toy"]}, {"vc_dim": "size"}).notes
    assert any(note.startswith("hyperparameters: ") for note in notes)


def test_they_are_there_even_when_nobody_else_is_and_nobody_can_take_their_place(known: Known) -> None:
    for records in ([], rows("noisy_oracle", [1.0] * 8)):
        found = board_of(records, known)
        assert [row.kind for row in found.rows] == ["submission"] * bool(records)
        assert found.yardsticks == score_yardsticks(known, known)


def test_where_no_task_has_an_official_score_nobody_ranks_whoever_failed(tmp_path: Path) -> None:
    flat = references(tmp_path, "flat", sizes=(4, 2))
    found = board_of([*rows("whole", GAPS, "flat"), *rows("half", GAPS[:4], "flat")], flat)
    assert {row.submission: row.rank for row in found.rows} == {"whole": None, "half": None}
    expected = "noisy oracle: none, because no submission can have an official score on these tasks."
    assert (found.yardsticks.oracle, found.yardsticks.note_on_oracle) == (Yardstick({"flat": None}, None), expected)
    assert (found.yardsticks.fit, found.yardsticks.notes_on_fit) == (Yardstick({"flat": None}, None), [])


def test_the_fit_in_sample_scores_what_it_would_as_a_submission(known: Known) -> None:
    found = board(known)
    row, alone = by_name(found)["fit"], found.yardsticks.fit
    assert alone.score.mean == pytest.approx(row.score)
    assert {name: f"{one.mean:.9f}" for name, one in alone.tasks.items()} == {
        name: f"{task.official:.9f}" for name, task in row.tasks.items()
    }


def test_on_the_shipped_tasks() -> None:
    shipped = {name: read_reference(path) for name, path in TaskDirectory(SHIPPED).references().items()}
    found = score_yardsticks(shipped, shipped).content["hyperparameters"]
    assert found["in_sample"]["score"] == pytest.approx(14.9587, abs=1e-4)
    assert found["in_sample"]["tasks"].keys() == shipped.keys()


def test_rows_that_tell_more_are_marked(tmp_path: Path) -> None:
    found = board(references(tmp_path, "large", gaps=LARGE, sizes=(2, 2, 2, 2)), LARGE)
    marks = {"best": True, "fit": False, "half": None}
    assert {row.submission: BEYOND.value(row) for row in found.rows} == marks
    assert {row.submission: BEYOND.shown(row) for row in found.rows} == {"best": "yes", "fit": "-", "half": "-"}
    assert {name: line[BEYOND.key] for name, line in in_csv(found).items()} == {
        "best": "True",
        "fit": "False",
        "half": "",
    }
    assert {name: row[BEYOND.key] for name, row in in_json(found).items()} == marks
    assert BEYOND_NOTE in found.notes


def test_hidden_tasks_and_means_with_one_show_no_figure_and_no_marks(known: Known) -> None:
    found, exact = board(known, withheld=("second",)), score_yardsticks(known, known)
    told = found.yardsticks
    assert told.oracle == Yardstick(exact.oracle.tasks | {"second": None}, None)
    assert (told.fit, told.notes_on_fit) == (Yardstick(exact.fit.tasks | {"second": None}, None), [])
    assert {BEYOND.value(row) for row in found.rows} == {None}
    assert BEYOND not in found.columns


def test_figures_of_public_tasks_do_not_depend_on_hidden_gaps(known: Known) -> None:
    hidden = replace(known["second"], train_accuracy=dict(zip(known["second"].models, MEASURE, strict=True)))
    public = {"toy": known["toy"], "third": known["toy"]}
    one, other = (
        board_of([], {**public, "second": second}, ["second"]).yardsticks for second in (known["second"], hidden)
    )
    assert one == other
    assert None not in [one.fit.tasks[name] for name in public]
