"""Tests of the table and the plot of `pgdl compare`, and of files with the table."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from board_examples import GAPS, MEASURE, MODELS, OFFICIAL, Known, by_name, compare, failed, in_csv, references, rows
from pyarrow import BufferReader, parquet

from harness.board.board import Board
from harness.board.columns import BEYOND_NOTE
from harness.board.comparison import NOTES, NOTES_ON_OPEN_TASKS
from harness.board.comparison_plot import NAMED, write_plot
from harness.board.disclosure import REASON_WITHHELD, disclosure_note
from harness.board.formats import latex
from harness.board.formats import parquet as parquet_format
from harness.board.on_task import MISSING
from harness.board.rankings import FEW_TASKS_NOTE
from harness.board.row import Row
from harness.outcome import Outcome
from harness.plots import dark_rules
from scoring import SubmissionScore, kendall_tau

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


def test_a_task_on_which_nobody_can_have_a_score_changes_neither_rank_nor_kendall(tmp_path: Path) -> None:
    tasks = references(tmp_path, "flat", sizes=(4, 2)) | references(tmp_path, "toy")
    records = [*rows("half", MEASURE), *rows("good", MEASURE), *rows("good", GAPS, "flat")]
    found = compare(records, tasks, {"half": "norm", "good": "norm"})
    expected = (1, pytest.approx(kendall_tau(MEASURE, GAPS)), True)
    assert [(row.rank, row.kendall, row.standing is not None) for row in found.rows] == [expected, expected]
    flat = compare(rows("good", GAPS, "flat"), {"flat": tasks["flat"]}, {"good": "norm", "never": "norm"})
    assert [(row.rank, row.kendall) for row in flat.rows] == [(None, 1), (None, None)]
    (outside,) = compare(rows("good", GAPS, sandbox="none"), {"toy": tasks["toy"]}, {"good": "norm"}).rows
    assert (outside.rank, outside.score) == (None, pytest.approx(100))


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


SVG = "{http://www.w3.org/2000/svg}"


def row(measure: str, family: str, score: float | None, complete: bool = True) -> Row:
    result = SubmissionScore(score, {}, complete, exceeded=False)
    return Row(1, measure, "baseline", result, {}, sandboxed=True, family=family)


def drawn(rows: Sequence[Row], directory: Path, oracle: float | None = None) -> tuple[list[str], str]:
    """Return the texts of the plot in the order of its SVG file, and the file's content."""
    file = directory / "plot.svg"
    write_plot(rows, [file], oracle)
    text = file.read_text()
    return [element.text or "" for element in ElementTree.fromstring(text).iter(f"{SVG}text")], text


MANY = [row(f"norm_{n}", "norm", 20.0 - n) for n in range(9)]
SOME = [row("best:seed=3", "size", 12.5), row("half", "margin", 9.0, complete=False), row("never", "margin", None)]


def test_the_best_of_every_family_are_named_and_the_others_counted(tmp_path: Path) -> None:
    texts, text = drawn([*MANY, *SOME], tmp_path)
    assert [text for text in texts if text.startswith("norm_")] == [f"norm_{n}" for n in range(NAMED)]
    shown = {"norm", "size", "margin", "best:seed=3", "half", "never"}
    assert shown | {f"{9 - NAMED} more", "mean official score (hollow: not of every task)"} <= set(texts)
    assert len(re.findall(r'<g id="PathCollection_', text)) == 9 + 2, "every measure with a score has a dot"
    texts, _ = drawn(MANY[: NAMED + 1], tmp_path)
    assert f"norm_{NAMED}" in texts, "one more than fits is named rather than counted"
    assert not any("more" in text for text in texts)


def dots(text: str) -> list[tuple[float, float]]:
    """Return the positions of all dots, the best score first; heights are measured from the top."""
    found = re.findall(r'<g id="PathCollection_.*?<use [^>]*x="([\d.]+)" y="([\d.]+)".*?</g>\s*</g>', text, re.DOTALL)
    return sorted(((float(x), float(y)) for x, y in found), reverse=True)


def test_the_best_stand_at_the_top_with_a_line_between_families_and_no_dot_is_cut_at_the_edge(tmp_path: Path) -> None:
    _, text = drawn(MANY, tmp_path)
    heights = [height for _, height in dots(text)]
    assert len(heights) == len(MANY)
    assert heights == sorted(heights)
    assert "clip-path" not in "".join(re.findall(r'<g id="PathCollection_.*?</g>\s*</g>', text, re.DOTALL))
    _, text = drawn([row("a", "norm", 20.0), row("b", "norm", 19.0), row("c", "size", 12.0)], tmp_path)
    (_, first), (_, second), (_, third) = dots(text)
    assert third - second == pytest.approx(2 * (second - first), rel=1e-3)


def test_chance_and_the_oracle_are_marked_where_they_are_known(single: Known, tmp_path: Path) -> None:
    """No two texts overlap, even if the oracle is no better than chance, so that both labels are close."""
    compared = compare(rows("vc_dim", MEASURE), single, {"vc_dim": "size"}).rows
    (level,) = (row.chance_level for row in compared)
    texts, _ = drawn(compared, tmp_path, oracle=20.71)
    assert {f"chance {level:.2f}", "noisy oracle 20.71"} <= set(texts)
    texts, _ = drawn(MANY, tmp_path)
    assert not any("chance" in text or "oracle" in text for text in texts)
    _, text = drawn([*MANY, *compared], tmp_path, oracle=level)
    places = re.findall(
        r'<text style="[^"]*" (?:x="([\d.]+)" y="([\d.]+)"|transform="translate\(([\d.]+) ([\d.]+)\)")', text
    )
    found = [(float(a or c), float(b or d)) for a, b, c, d in places]
    assert len(found) > len(MANY)
    pairs = [(one, other) for one, other in combinations(found, 2) if abs(one[0] - other[0]) < 1]
    assert [(one, other) for one, other in pairs if abs(one[1] - other[1]) < 8] == []


def test_it_needs_no_network_and_has_a_dark_mode(tmp_path: Path) -> None:
    _, text = drawn([*MANY, *SOME], tmp_path, oracle=20.0)
    assert "@font-face" not in text
    assert re.findall(r"url\((?!#)", text) == []
    used = set(re.findall(r"(?:fill|stroke): #[0-9a-f]+", re.sub(r"<style>.*?</style>", "", text)))
    assert [colour for colour in used if f'[style*="{colour}"]' not in dark_rules()] == []
    assert f"<style>{dark_rules()}</style>" in text


def test_the_same_rows_make_the_same_files(tmp_path: Path) -> None:
    paths = [tmp_path / "plot.png", tmp_path / "plot.svg"]
    write_plot(MANY, paths)
    before = [path.read_bytes() for path in paths]
    write_plot(MANY, paths)
    assert before == [path.read_bytes() for path in paths]
    assert before[0].startswith(b"\x89PNG")


def test_a_plot_and_a_parquet_file_without_any_score(single: Known, tmp_path: Path) -> None:
    board = compare([], single, {"never": "norm"})
    assert {"norm", "never"} <= set(drawn(board.rows, tmp_path)[0])
    assert parquet.read_schema(BufferReader(parquet_format.render(board))).field("score").type == "double"
