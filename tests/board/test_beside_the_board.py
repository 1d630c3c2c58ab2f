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
from harness.tables import wide_console
from scoring import ORACLE_DRAWS, HeldOut, additive_fit, noisy_oracle, official_score, oracle_scores

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
    row, on_tasks = by_name(found)["fit"], found.yardsticks.fit.tasks
    assert (told["score"], row.score) == (pytest.approx(fit.mean), pytest.approx(fit.mean)), "as a submission would"
    assert [on_tasks[name].mean for name in known] == pytest.approx(
        [row.tasks[name].official for name in told["tasks"]]
    )
    for records in ([], rows("noisy_oracle", [1.0] * 8)):
        other = board_of(records, known)
        assert [row.kind for row in other.rows] == ["submission"] * bool(records)
        assert other.yardsticks == found.yardsticks
    notes = compare(rows("vc_dim", MEASURE), {"toy": known["toy"]}, {"vc_dim": "size"}).notes
    assert any(note.startswith("hyperparameters: ") for note in notes)


def test_where_no_task_has_an_official_score_nobody_ranks_whoever_failed(tmp_path: Path) -> None:
    flat = references(tmp_path, "flat", sizes=(4, 2))
    found = board_of([*rows("whole", GAPS, "flat"), *rows("half", GAPS[:4], "flat")], flat)
    assert {row.submission: row.rank for row in found.rows} == {"whole": None, "half": None}
    expected = "noisy oracle: none, because no submission can have an official score on these tasks."
    assert (found.yardsticks.oracle, found.yardsticks.note_on_oracle) == (Yardstick({"flat": None}, None), expected)
    assert (found.yardsticks.fit, found.yardsticks.notes_on_fit) == (Yardstick({"flat": None}, None), [])


def test_rows_that_tell_more_are_marked(tmp_path: Path) -> None:
    found = board(references(tmp_path, "large", gaps=LARGE, sizes=(2, 2, 2, 2)), LARGE)
    marks = {"best": (True, "yes", "True", True), "fit": (False, "-", "False", False), "half": (None, "-", "", None)}
    for row in found.rows:
        name, programs = row.submission, (in_csv(found), in_json(found))
        assert (BEYOND.value(row), BEYOND.shown(row), *(one[name][BEYOND.key] for one in programs)) == marks[name]
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
