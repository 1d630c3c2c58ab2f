"""Tests of the table of `pgdl compare`, and of files with it."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from board_examples import GAPS, MEASURE, MODELS, OFFICIAL, Known, by_name, compare, failed, in_csv, references, rows
from pyarrow import BufferReader, parquet

from harness.board.board import Board
from harness.board.columns import BEYOND_NOTE
from harness.board.comparison import NOTES, NOTES_ON_OPEN_TASKS
from harness.board.disclosure import REASON_WITHHELD, disclosure_note
from harness.board.formats import latex
from harness.board.formats import parquet as parquet_format
from harness.board.on_task import MISSING
from harness.board.rankings import FEW_TASKS_NOTE
from harness.outcome import Outcome
from scoring import kendall_tau

WHY = "MeasureUnavailable: needs the initial_weights & more"
TASKS = ["second", "toy"]
FAMILIES = {
    "half": "norm", "late": "margin", "never": "margin", "good": "norm", "best:seed=3": "size", "broken": "size",
}  # fmt: skip


@pytest.fixture(scope="module")
def table(known: Known) -> Board:
    """Two complete measures, and incomplete measures: failing on one task, too slow, failing everywhere, not called."""
    evaluations = [
        *rows("best:seed=3", GAPS, TASKS, call_wall_s=4.0),
        *rows("good", MEASURE, TASKS),
        *rows("half", GAPS),
        *(failed("half", model, Outcome.EXCEPTION, "second", message=WHY) for model in MODELS[:5]),
        *(failed("half", model, Outcome.CRASH, "second", message="killed") for model in MODELS[5:]),
        *rows("late"),
        *rows("late", GAPS[:7], "second"),
        failed("late", "model_7", Outcome.TIMEOUT, "second", message="over 1 s"),
        *(failed("broken", model, Outcome.EXCEPTION, task, message=WHY) for task in TASKS for model in MODELS),
        *rows("somebody_else", GAPS),
    ]
    return compare(evaluations, known, FAMILIES)


def test_every_measure_has_a_row_with_its_score_or_the_reason_the_best_first(table: Board) -> None:
    """The competition's rule would make the score of `late` 0."""
    official = pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    assert [(row.submission, row.rank, row.score, row.complete, row.reason, row.failures) for row in table.rows] == [
        ("best:seed=3", 1, pytest.approx(100), True, "", {}),
        ("good", 2, official, True, "", {}),
        ("half", 3, pytest.approx(100), False, f"second: 5 EXCEPTION, 3 CRASH, for example: {WHY}",
         {"EXCEPTION": 5, "CRASH": 3}),
        ("late", 4, official, False, "second: 1 TIMEOUT: over 1 s", {"TIMEOUT": 1}),
        ("broken", 5, None, False, f"second, toy: 8 EXCEPTION: {WHY}", {"EXCEPTION": 16}),
        ("never", 5, None, False, "second, toy: 8 missing", {MISSING: 16}),
    ]  # fmt: skip
    assert {row.submission: row.family for row in table.rows} == FAMILIES
    found = by_name(table)
    assert found["good"].kendall == pytest.approx(kendall_tau(MEASURE, GAPS))
    assert (found["half"].tasks["second"].score, found["broken"].kendall) == (None, None)
    assert (found["good"].seconds_per_model, found["best:seed=3"].seconds_per_model) == (1.5, 4.0)
    assert (found["never"].seconds_per_model, found["good"].calls_expected) == (None, 16)


def test_what_is_left_out_of_a_task_has_not_failed_there(known: Known) -> None:
    reason = "needs what no model has"
    evaluations = [*rows("good", MEASURE, TASKS), *rows("half", GAPS)]
    left_out = dict.fromkeys([("half", "second"), ("never", "toy"), ("never", "second")], reason)
    board = compare(evaluations, known, {"good": "norm", "half": "norm", "never": "norm"}, left_out=left_out)
    good, half, never = board.rows
    assert (good.rank, half.rank, never.rank) == (1, 2, None)
    assert (half.complete, half.failures.total(), half.calls_expected, never.calls_expected) == (False, 0, 8, 0)
    assert half.reason == f"second: left out: {reason}"
    assert {f"never: toy, second: left out: {reason}", f"never: second, toy: left out: {reason}"} & set(board.notes)
    cells = dict(zip(board.headings, board.cells(half), strict=True))
    assert (cells["second"], "failed" in cells) == ("-", False)
    assert good.standing is not None


def test_outside_the_sandbox_nothing_is_ranked(known: Known) -> None:
    found = compare(rows("good", GAPS, TASKS, sandbox="none"), known, {"good": "norm"})
    (row,) = found.rows
    assert (row.rank, row.score, found.cells(row)[0]) == (None, pytest.approx(100), "-")


def test_nothing_is_ranked_if_no_task_can_have_a_score(tmp_path: Path) -> None:
    reference = references(tmp_path, gaps=GAPS[:4], sizes=(2, 2))
    found = compare(rows("good", GAPS[:4]), reference, {"good": "norm", "never": "norm"})
    assert [(row.rank, row.kendall) for row in found.rows] == [(None, 1), (None, None)]


def test_a_task_on_which_nobody_can_have_a_score_changes_neither_rank_nor_kendall(tmp_path: Path) -> None:
    tasks = references(tmp_path, "flat", sizes=(4, 2)) | references(tmp_path, "toy")
    records = [*rows("half", MEASURE), *rows("good", MEASURE), *rows("good", GAPS, "flat")]
    found = compare(records, tasks, {"half": "norm", "good": "norm"})
    expected = (1, pytest.approx(kendall_tau(MEASURE, GAPS)), True)
    assert [(row.rank, row.kendall, row.standing is not None) for row in found.rows] == [expected, expected]


def test_of_withheld_tasks_scores_are_rounded_and_reasons_are_not_told(known: Known) -> None:
    evaluations = [
        *rows("good", MEASURE, "toy", call_wall_s=2.0), *rows("good", MEASURE, "second", call_wall_s=9.0),
        *(failed("broken", model, Outcome.EXCEPTION, task, message=WHY) for task in TASKS for model in MODELS),
    ]  # fmt: skip
    found = compare(evaluations, known, {"good": "norm", "broken": "norm"}, withheld=["second"])
    good, broken = found.rows
    second = good.tasks["second"]
    assert (second.score.official, second.seconds_per_model, good.seconds_per_model) == (0.295, None, 2.0)
    assert [good.score, *(found.cells(good)[place] for place in (3, 4, 5))] == [29.5, "29.5", "29.5", "29.54"]
    assert broken.tasks["second"].reason == REASON_WITHHELD
    assert broken.reason == f"second: {REASON_WITHHELD}; toy: 8 EXCEPTION: {WHY}"
    assert disclosure_note(["second"]) in found.notes


def test_cells_are_what_a_reader_sees(table: Board) -> None:
    assert table.headings == [
        "rank", "measure", "family", "score", "interval", "excess", "p", "beyond", *TASKS, "Kendall", "s/model",
        "failed",
    ]  # fmt: skip
    shown = {row.submission: table.cells(row) for row in table.rows}
    assert shown["best:seed=3"] == [
        "1", "best:seed=3", "size", "100.00", "100.0-100.0", "73.5 (73.5 to 73.5)", "0.0125", "yes", "100.00", "100.00",
        "1.000", "4.000", "",
    ]  # fmt: skip
    assert shown["half"][3:10] == ["100.00", "-", "73.5", "-", "-", "failed", "100.00"]
    assert shown["half"][-1] == "5 EXCEPTION, 3 CRASH"
    assert shown["never"] == ["5", "never", "margin", *["-"] * 5, "not run", "not run", "-", "-", "16 missing"]


def test_measures_that_fail_alike_share_a_note(table: Board) -> None:
    reasons = [f"{row.submission}: {row.reason}" for row in table.rows[2:]]
    general = [*NOTES, *NOTES_ON_OPEN_TASKS, *table.yardsticks.notes_on_fit, BEYOND_NOTE, FEW_TASKS_NOTE]
    assert table.notes == [*reasons, *general]
    assert replace(table, rows=[table.rows[5]] * 2).notes[0] == "never, never: second, toy: 8 missing"


def test_csv_and_parquet_have_all_digits_and_the_reason(table: Board) -> None:
    """Parquet has a row per measure and task."""
    found = in_csv(table)
    assert list(found) == [row.submission for row in table.rows]
    good, half = found["good"], found["half"]
    assert float(good["score:toy"]) == pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    assert float(good["kendall:toy"]) == float(good["kendall"]) == pytest.approx(kendall_tau(MEASURE, GAPS))
    assert (good["models"], good["failed"], good["seconds_per_model"]) == ("16", "0", "1.5")
    assert (half["score:second"], half["failed"], half["outcomes"]) == ("", "8", "5 EXCEPTION, 3 CRASH")
    assert half["reason"].endswith(WHY)
    lines = parquet.read_table(BufferReader(parquet_format.render(table))).to_pylist()
    rows = {(line["measure"], line["task"]): line for line in lines}
    assert [*rows] == [(row.submission, task) for row in table.rows for task in TASKS]
    columns = ("score", "models", "failed", "seconds_per_model", "outcomes", "reason")
    official, outcomes = pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10), "5 EXCEPTION, 3 CRASH"
    assert [[rows[key][name] for name in columns] for key in (("good", "second"), ("half", "second"))] == [
        [official, 8, 0, 1.5, "", ""], [None, 8, 8, 1.5, outcomes, f"{outcomes}, for example: {WHY}"],
    ]  # fmt: skip


def test_latex(table: Board) -> None:
    lines = latex.render(table).splitlines()
    assert lines[:3] == ["% \\usepackage{booktabs,graphicx}", "\\begin{table*}", "\\centering\\footnotesize"]
    assert lines[3] == (
        "\\caption{Comparison of 5 submissions and 1 measure on 2 tasks: second (8 networks), toy (8 networks). "
        "Scores are from 0 to 100, and larger is better.}"
    )
    assert lines[4] == "\\label{tab:comparison}"
    assert lines[6] == "\\begin{tabular}{rllrrrrlrrrrl}"
    assert lines[-1] == "\\end{table*}"
    body = lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]
    assert len(body) == len(table.rows)
    assert all(line.count(" & ") == len(table.headings) - 1 and line.endswith(" \\\\") for line in body)
    assert body[0].startswith("1 & best:seed=3 & size & 100.00 & ")
    assert any("initial\\_weights \\& more" in line for line in lines)


def test_a_long_latex_table_has_a_part_on_each_page(table: Board) -> None:
    text = latex.render(replace(table, rows=[*table.rows] * 8))
    first, *others = text.split("\\end{table*}\n")[:-1]
    assert [part.count(" \\\\\n") - 1 for part in (first, *others)] == [40, 8]  # without the heading
    assert "\\caption{Comparison of 40 submissions and 8 measures on 2 tasks" in first
    assert "\\caption{Comparison, part 2 of 2.}" in others[-1]
    assert [part.count("\\label") for part in (first, *others)] == [1, 0]
    assert [part.count("Score: 100 times") for part in (first, *others)] == [0, 1]


@pytest.mark.rest
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_latex_fits_a_paper(columns: str, table: Board, tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(latex.render(replace(table, rows=[*table.rows] * 8)))
    (tmp_path / "paper.tex").write_text(
        f"\\documentclass[{columns}]{{article}}\\usepackage{{booktabs,graphicx}}"
        "\\begin{document}\\input{table}\\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Overfull" not in done.stdout
    assert "Float too large" not in done.stdout


def test_parquet_where_nothing_has_a_score(known: Known) -> None:
    content = parquet_format.render(compare([], known, {"never": "norm"}))
    assert parquet.read_schema(BufferReader(content)).field("score").type == "double"
