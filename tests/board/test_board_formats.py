"""Tests of the board as Markdown, CSV and JSON: the same rows with the same rules."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from board_examples import GAPS, MEASURE, OFFICIAL, collect, failed, references, rows, write_reference
from markdown_it import MarkdownIt
from rich.console import Console
from rich.text import Text

from harness.board.board import Board
from harness.board.formats import csv as csv_format
from harness.board.formats import json as json_format
from harness.board.formats import latex, markdown, table
from harness.board.leaderboard import build_board
from harness.board.scores import decimal
from harness.outcome import Outcome
from scoring import RULE

TASKS = ["second", "toy"]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """A board with a winner, a baseline, and submissions with a failed task, without values, and without a sandbox."""
    known = references(tmp_path_factory.mktemp("reference"), *TASKS)
    evaluations = [
        *(row for task in TASKS for row in rows("winner", GAPS, task)),
        *(row for task in TASKS for row in rows("path_norm", MEASURE, task, is_baseline=True)),
        *rows("half", MEASURE),
        *(failed("broken", model, Outcome.CRASH) for model in ("model_0", "model_1")),
        *(row for task in TASKS for row in rows("bold", GAPS, task, sandbox="none")),
    ]
    return build_board(collect(evaluations, known), known)


def test_cells_are_what_a_reader_sees(board: Board) -> None:
    assert board.headings == [
        "rank", "submission", "", "score", "interval", "ranks", "group", "excess", "p", "beyond", "second",
        "toy", "s/model", "calls",
    ]  # fmt: skip
    shown = {row.submission: board.cells(row) for row in board.rows}
    assert shown["winner"] == [
        "1", "winner", "", "100.00", "100.0-100.0", "1", "1", "73.5 (73.5 to 73.5)", "0.0125", "yes", "100.00",
        "100.00", "1.50", "16/16",
    ]  # fmt: skip
    assert shown["path_norm"] == [
        "2", "path_norm", "baseline", "29.54", "15.3-48.4", "2", "2", "4.0 (-10.3 to 22.8)", "0.3416", "-", "29.54",
        "29.54", "1.50", "16/16",
    ]  # fmt: skip
    assert shown["half"] == [
        "3", "half", "", "29.54", "-", "-", "-", "4.0", "-", "-", "not run", "29.54", "1.50", "8/16",
    ]  # fmt: skip
    assert shown["broken"] == ["4", "broken", "", *["-"] * 7, "not run", "failed", "1.50", "0/16"]
    assert shown["bold"] == [
        "-", "bold", "not sandboxed", "100.00", "-", "-", "-", "73.5", "-", "-", "100.00", "100.00", "1.50",
        "16/16",
    ]  # fmt: skip


def test_a_baseline_outside_the_sandbox_is_marked_as_both(tmp_path: Path) -> None:
    known = references(tmp_path)
    found = build_board(collect(rows("path_norm", is_baseline=True, sandbox="none"), known), known)
    assert found.cells(found.rows[-1])[:3] == ["-", "path_norm", "baseline not sandboxed"]


def test_what_a_reader_must_know_stands_below(board: Board) -> None:
    assert board.notes[:3] == [
        "the same files under several names: bold, broken, half, winner",
        "without a value for every model: broken (14 missing, 2 CRASH), half (8 missing); a repeated run makes missing "
        "calls, pgdl report says why calls failed",
        RULE,
    ]
    assert any("noisy oracle" in note for note in board.notes)
    assert any("--unsafe-no-sandbox" in note for note in board.notes)
    assert not any(
        "--unsafe-no-sandbox" in note
        for note in replace(board, rows=[row for row in board.rows if row.sandboxed]).notes
    )


def test_markdown(board: Board) -> None:
    text = markdown.render(board)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert text.startswith("# Leaderboard\n")
    assert set(table[1]) == {"|", " ", "-"}
    assert table[2].startswith(
        "| 1 | `winner` |  | 100.00 | 100.0-100.0 | 1 | 1 | 73.5 (73.5 to 73.5) | 0.0125 | yes |"
    )
    assert RULE in text


def test_csv_has_all_digits(board: Board) -> None:
    found = {row["submission"]: row for row in csv.DictReader(io.StringIO(csv_format.render(board)))}
    assert list(found) == [row.submission for row in board.rows]
    assert float(found["path_norm"]["score:toy"]) == pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    assert found["path_norm"]["score:toy"] == repr(round(100 * board.rows[1].result.tasks["toy"].official, 12))  # type: ignore[union-attr]
    assert (found["half"]["score:second"], found["broken"]["score"], found["bold"]["rank"]) == ("", "", "")
    assert (found["bold"]["sandboxed"], found["winner"]["sandboxed"]) == ("False", "True")
    assert [row["kind"] for row in found.values()].count("baseline") == 1


def test_json_has_everything(board: Board) -> None:
    content = json.loads(
        json_format.render(board), parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON")
    )
    assert content["rule"] == RULE
    found: dict[str, Any] = {row["submission"]: row for row in content["rows"]}
    assert list(found) == [row.submission for row in board.rows]
    assert found["path_norm"]["score"] == board.rows[1].result.score
    assert found["half"]["tasks"]["second"] == {
        "failed": "8 of 8 calls gave no value (model_0: missing, model_1: missing, model_2: missing, ...)",
        "chance": None,
        "p_value": None,
        "adjusted_p_value": None,
    }
    toy = found["path_norm"]["tasks"]["toy"]
    assert toy["official"] == pytest.approx(100 * OFFICIAL)
    assert 1 < max(toy["printed_subsets"].values()) <= 100.1
    assert abs(toy["kendall"]) <= 1
    assert toy["official"] == min(toy["official_pairs"].values())
    assert set(toy["official_pairs"]) == {"axis_a x axis_b", "axis_a x axis_c", "axis_b x axis_c"}
    assert toy["printed"] == min(toy["printed_subsets"].values())
    assert {"none", "axis_a", "axis_a x axis_b"} <= set(toy["printed_subsets"])
    assert found["broken"]["score"] is None
    assert found["winner"]["seconds_per_model"] == 1.5


def test_a_measure_that_is_always_the_same_has_numbers_all_the_same(tmp_path: Path) -> None:
    known = references(tmp_path)
    found = json.loads(json_format.render(build_board(collect(rows("constant", [1.0] * 8), known), known)))
    (constant,) = (row for row in found["rows"] if row["submission"] == "constant")
    assert (constant["score"], constant["tasks"]["toy"]["kendall"]) == (0.0, 0.0)


@pytest.mark.parametrize("name", ["__bold__", "www.evil.example", "a+b", "1e5"])
def test_names_are_text_and_nothing_else(name: str, tmp_path: Path) -> None:
    known = references(tmp_path)
    found = build_board(collect(rows(name), known), known)
    assert f"| `{name}` |" in markdown.render(found)
    assert name in {row["submission"] for row in csv.DictReader(io.StringIO(csv_format.render(found)))}


def test_remarks_cannot_be_markup(board: Board) -> None:
    text = markdown.render(
        replace(board, remarks=["__x__ digits_vgg https://evil.example www.evil.example <b> a|b `c`"])
    )
    assert r"\_\_x\_\_ digits_vgg https\://evil.example www\.evil.example \<b\> a\|b \`c\`" in text


@pytest.mark.rest
@pytest.mark.parametrize(
    "text",
    [
        "`<img src=x onerror=y>`", "``<b>``", "<b>", "&lt;b&gt;", "[x](http://x)", "![x](http://x)", "a|b", "$x$",
        "@me", "# x", "- x", "1. x", "x\n\n# y", "\x1b[31mred", "| --- |", "***x***", "\\", "`\\", "--- ", "=== ",
    ],
)  # fmt: skip
def test_names_and_notes_of_strangers_are_text(text: str, tmp_path: Path) -> None:
    """The test renders Markdown with the library that rich uses."""
    known = references(tmp_path)
    calls = collect(rows("a"), known)
    named = replace(calls, shown=[replace(one, submission=text) for one in calls.shown])
    found = replace(build_board(named, known), remarks=[text])
    shown = markdown.render(found)
    assert all(one.isprintable() or one == "\n" for one in shown)
    tokens = MarkdownIt("commonmark").enable("table").parse(shown)
    spans = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in spans} <= {"text", "code_inline", "hardbreak", "text_special"}
    blocks = {token.tag for token in tokens if token.type.endswith("_open")}
    assert blocks == {"h1", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert sum(token.type == "heading_open" for token in tokens) == 1
    assert len({line.count("|") - line.count("\\|") for line in shown.splitlines() if line.startswith("|")}) == 1


def test_rows_of_several_settings_say_how_they_differ(tmp_path: Path) -> None:
    known = references(tmp_path)
    usual = [*rows("a", GAPS), *rows("b", GAPS)]
    other = rows("b", MEASURE, run_seed=1, time_limit_s=60.0)
    found = build_board(collect([*usual, *other], known), known)
    place = found.headings.index("settings")
    shown = [(row.submission, found.cells(row)[place]) for row in found.rows]
    assert shown == [("a", ""), ("b", ""), ("b", "seed 1, limit 60 s")]
    assert "settings" not in build_board(collect(usual, known), known).headings


def in_two_runtimes(directory: Path) -> Board:
    known = references(directory)
    return build_board(collect([*rows("a", GAPS), *rows("b", run_seed=1), *rows("b", runtime="jax")], known), known)


def test_runtimes_are_named_where_rows_differ(tmp_path: Path) -> None:
    found = in_two_runtimes(tmp_path)
    for form in (markdown, table, latex):
        assert "jax" in str(form.render(found))
    heading, *shown = (found.headings, *map(found.cells, found.rows))
    place, settings = heading.index("runtime"), heading.index("settings")
    assert sorted((cells[1], cells[place], cells[settings]) for cells in shown) == [
        ("a", "tensorflow", ""), ("b", "jax", ""), ("b", "tensorflow", "seed 1"),
    ]  # fmt: skip
    same = build_board(collect([*rows("a"), *rows("b")], references(tmp_path)), references(tmp_path))
    assert "runtime" not in same.headings


def test_files_for_programs_always_name_the_runtime(tmp_path: Path, board: Board) -> None:
    for one in (board, in_two_runtimes(tmp_path)):
        lines = csv.DictReader(io.StringIO(csv_format.render(one)))
        assert [line["runtime"] for line in lines] == [row.configuration.runtime for row in one.rows]
        listed = json.loads(json_format.render(one))["rows"]
        assert [row["runtime"] for row in listed] == [row.configuration.runtime for row in one.rows]


def test_a_task_without_an_official_score_has_a_dash_and_ranks_nobody(tmp_path: Path) -> None:
    write_reference(tmp_path, "flat", sizes=(4, 2))
    known = references(tmp_path, "toy")
    found = build_board(collect([*rows("a", GAPS), *rows("a", GAPS, "flat")], known), known)
    (shown,) = [found.cells(row) for row in found.rows if row.submission == "a"]
    assert shown == [
        "1", "a", "", "100.00", "100.0-100.0", "1", "1", "73.5 (73.5 to 73.5)", "0.0723", "-", "-", "100.00",
        "1.50", "16/16",
    ]  # fmt: skip
    flat = build_board(collect(rows("a", GAPS, "flat"), {"flat": known["flat"]}), {"flat": known["flat"]})
    assert [row.rank for row in flat.rows] == [None]
    assert json.loads(json_format.render(flat))["rows"][0]["tasks"]["flat"]["official"] is None


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (48, "rank submission score chance calls"),
        (80, "rank submission score 0 to 100 chance second toy group calls"),
        (200, "rank submission score 0 to 100 chance second toy interval ranks group excess p beyond s/model calls"),
    ],
)
def test_a_narrow_terminal_is_shown_scores_first_and_details_last(board: Board, width: int, headings: str) -> None:
    text = on_terminal(board, width)
    first, *lines = text.splitlines()
    assert first.split() == headings.split()
    assert max(map(len, lines[: len(board.rows)])) <= width
    assert ("Left out, since the terminal is too narrow" in text) == (width < 200)
    assert on_terminal(board, 48, wide=True).splitlines()[0] == on_terminal(board, 200).splitlines()[0]


def on_terminal(board: Board, width: int, **options: bool) -> str:
    console = Console(width=width, force_terminal=True, soft_wrap=True)
    with console.capture() as capture:
        table.show(board, console, **{"wide": False, **options})
    return Text.from_ansi(capture.get()).plain


def test_intervals_are_drawn_on_one_axis_and_explained_on_request(board: Board) -> None:
    text = on_terminal(board, 200)
    winner, weak = (next(line for line in text.splitlines() if f" {name} " in line) for name in ("winner", "path_norm"))
    assert winner.index("\N{BLACK CIRCLE}") - weak.index("\N{BLACK CIRCLE}") == round(9 * (1 - OFFICIAL))
    assert RULE in text.replace("\n", " ")
    brief = on_terminal(board, 200, explain=False)
    assert RULE not in brief
    assert "not sandboxed: run with --unsafe-no-sandbox, never ranked." in brief


def test_a_notebook_shows_the_table_and_the_remarks(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    remarked = replace(board, remarks=["<b>"])
    headings, *lines = repr(remarked).splitlines()
    assert headings.split()[:3] == ["rank", "submission", "score"]
    assert [line.split()[1] for line in lines[:5]] == [row.submission for row in board.rows]
    assert lines[6] == "<b>"
    assert "\x1b" not in repr(remarked)
    shown = remarked._repr_html_()
    assert "<tr><td>1</td><td>winner</td><td></td><td>100.00</td>" in shown
    assert "</table><p>&lt;b&gt;</p>" in shown


def test_the_level_of_chance_has_its_place_on_the_axis(tmp_path: Path) -> None:
    """The measure depends on a single hyperparameter, so its score is 0, below the level of chance."""
    known = references(tmp_path)
    board = build_board(collect(rows("size", [1.0] * 4 + [2.0] * 4), known), known)
    heading, line = on_terminal(board, 200).splitlines()[:2]
    assert f"0 to {math.ceil(board.rows[0].chance_level or 0.0)}  " in heading
    assert re.search("\N{BLACK CIRCLE} {8}\N{BOX DRAWINGS LIGHT VERTICAL}  could be", line)


def test_tasks_are_called_by_what_tells_them_apart(board: Board) -> None:
    names = {"digits_fcn_bn": "fcn_bn", "digits_nin": "nin"}
    assert replace(board, tasks=list(names)).short_tasks == names
    for alone in (["digits_nin"], ["a_", "a_b"], ["a", "a_b"], []):
        assert all(replace(board, tasks=alone).short_tasks.values())
    assert replace(board, tasks=["digits_nin"]).short_tasks == {"digits_nin": "digits_nin"}


def test_a_rounded_zero_has_no_sign() -> None:
    assert [decimal(number, 1) for number in (-0.04, -0.06, 0.04, None)] == ["0.0", "-0.1", "0.0", "-"]
