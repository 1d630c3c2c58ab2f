"""Tests of the board as Markdown, CSV and JSON: the same rows with the same rules."""

import csv
import io
import json
from dataclasses import replace

import pytest
from board_examples import GAPS, MEASURE, OFFICIAL, Known, board_of, failed, in_csv, rows
from markdown_it import MarkdownIt
from rich.console import Console
from rich.text import Text

from harness.board.board import Board
from harness.board.formats import csv as csv_format
from harness.board.formats import json as json_format
from harness.board.formats import latex, markdown, table
from harness.outcome import Outcome
from scoring import RULE


@pytest.fixture(scope="module")
def board(known: Known) -> Board:
    """A board with a winner, a baseline, and submissions with a failed task, without values, and without a sandbox."""
    evaluations = [
        *rows("winner", GAPS, [*known]), *rows("path_norm", MEASURE, [*known], is_baseline=True), *rows("half"),
        *(failed("broken", model, Outcome.CRASH) for model in ("model_0", "model_1")),
        *rows("bold", GAPS, [*known], sandbox="none"),
    ]  # fmt: skip
    return board_of(evaluations, known)


def test_cells_are_what_a_reader_sees(board: Board, single: Known) -> None:
    assert board.headings == [
        "rank", "submission", "", "score", "interval", "ranks", "group", "excess", "p", "beyond", "second",
        "toy", "s/model", "calls",
    ]  # fmt: skip
    assert [board.cells(row) for row in board.rows] == [
        ["1", "winner", "", "100.00", "100.0-100.0", "1", "1", "73.5 (73.5 to 73.5)", "0.0125", "yes", "100.00",
         "100.00", "1.50", "16/16"],
        ["2", "path_norm", "baseline", "29.54", "15.3-48.4", "2", "2", "4.0 (-10.3 to 22.8)", "0.3416", "-", "29.54",
         "29.54", "1.50", "16/16"],
        ["3", "half", "", "29.54", "-", "-", "-", "4.0", "-", "-", "not run", "29.54", "1.50", "8/16"],
        ["4", "broken", "", *["-"] * 7, "not run", "failed", "1.50", "0/16"],
        ["-", "bold", "not sandboxed", "100.00", "-", "-", "-", "73.5", "-", "-", "100.00", "100.00", "1.50", "16/16"],
    ]  # fmt: skip
    both = board_of(rows("path_norm", is_baseline=True, sandbox="none"), single)
    assert both.cells(both.rows[-1])[:3] == ["-", "path_norm", "baseline not sandboxed"]


def test_what_a_reader_must_know_stands_below(board: Board) -> None:
    assert board.notes[:3] == [
        "the same files under several names: bold, broken, half, winner",
        "without a value for every model: broken (14 missing, 2 CRASH), half (8 missing); a repeated run makes missing "
        "calls, pgdl report says why calls failed",
        RULE,
    ]
    sandboxed = replace(board, rows=[row for row in board.rows if row.sandboxed])
    assert all(any(text in note for note in board.notes) for text in ("noisy oracle", "--unsafe-no-sandbox"))
    assert not any("--unsafe-no-sandbox" in note for note in sandboxed.notes)


def test_csv_and_json_have_all_digits_and_the_reason(board: Board) -> None:
    found, names = in_csv(board), [row.submission for row in board.rows]
    official = round(100 * board.rows[1].result.tasks["toy"].official, 12)
    assert (list(found), official) == (names, pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10))
    assert found["path_norm"]["score:toy"] == repr(official)
    assert (found["half"]["score:second"], found["broken"]["score"], found["bold"]["rank"]) == ("", "", "")
    assert (found["bold"]["sandboxed"], found["winner"]["sandboxed"]) == ("False", "True")
    assert [row["kind"] for row in found.values()].count("baseline") == 1
    text = json_format.render(board)
    content = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert (content["rule"], [row["submission"] for row in content["rows"]]) == (RULE, names)
    assert [row["score"] for row in content["rows"]] == [row.score for row in board.rows]
    tasks = {row["submission"]: row["tasks"] for row in content["rows"]}
    reason = "8 of 8 calls gave no value (model_0: missing, model_1: missing, model_2: missing, ...)"
    assert tasks["half"]["second"] == {"failed": reason, "chance": None, "p_value": None, "adjusted_p_value": None}
    toy = tasks["path_norm"]["toy"]
    assert toy["official"] == min(toy["official_pairs"].values()) == official
    assert set(toy["official_pairs"]) == {"axis_a x axis_b", "axis_a x axis_c", "axis_b x axis_c"}
    assert toy["printed"] == min(toy["printed_subsets"].values())
    assert 1 < max(toy["printed_subsets"].values()) <= 100.1
    assert {"none", "axis_a", "axis_a x axis_b"} <= set(toy["printed_subsets"])
    assert abs(toy["kendall"]) <= 1


def test_remarks_cannot_be_markup(board: Board) -> None:
    remark = "__x__ digits_vgg https://evil.example www.evil.example <b> a|b `c`"
    shown = r"\_\_x\_\_ digits_vgg https\://evil.example www\.evil.example \<b\> a\|b \`c\`"
    assert shown in markdown.render(replace(board, remarks=[remark]))


@pytest.mark.rest
@pytest.mark.parametrize(
    "text",
    [
        "`<img src=x onerror=y>`", "``<b>``", "<b>", "&lt;b&gt;", "[x](http://x)", "![x](http://x)", "a|b", "$x$",
        "@me", "# x", "- x", "1. x", "x\n\n# y", "\x1b[31mred", "| --- |", "***x***", "\\", "`\\", "--- ", "=== ",
        "__bold__", "www.evil.example", "a+b", "1e5",
    ],
)  # fmt: skip
def test_names_and_notes_of_strangers_are_text(text: str, board: Board) -> None:
    """The test renders Markdown with the library that rich uses."""
    named = replace(board, rows=[replace(board.rows[0], submission=text)], remarks=[text])
    shown = markdown.render(named)
    assert all(one.isprintable() or one == "\n" for one in shown)
    tokens = MarkdownIt("commonmark").enable("table").parse(shown)
    spans = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in spans} <= {"text", "code_inline", "hardbreak", "text_special"}
    assert any(part.type == "code_inline" for part in spans)
    blocks = [token.tag for token in tokens if token.type.endswith("_open")]
    assert set(blocks) == {"h1", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert blocks.count("h1") == 1
    assert len({line.count("|") - line.count("\\|") for line in shown.splitlines() if line.startswith("|")}) == 1


def test_rows_of_several_settings_and_runtimes_say_how_they_differ(single: Known, board: Board) -> None:
    """Files for programs always name the runtime."""
    usual = [*rows("a", GAPS), *rows("b", GAPS)]
    other = [*rows("b", MEASURE, run_seed=1, time_limit_s=60.0), *rows("b", runtime="jax")]
    found = board_of([*usual, *other], single)
    cells = [dict(zip(found.headings, found.cells(row), strict=True)) for row in found.rows]
    assert sorted((row["submission"], row["runtime"], row["settings"]) for row in cells) == [
        ("a", "tensorflow", ""), ("b", "jax", ""), ("b", "tensorflow", ""), ("b", "tensorflow", "seed 1, limit 60 s"),
    ]  # fmt: skip
    assert not {"settings", "runtime"} & set(board_of(usual, single).headings)
    assert all("jax" in str(form.render(found)) for form in (markdown, table, latex))
    for one in (board, found):
        runtimes = [row.configuration.runtime for row in one.rows if row.configuration]
        assert [line["runtime"] for line in csv.DictReader(io.StringIO(csv_format.render(one)))] == runtimes
        assert [row["runtime"] for row in one.content["rows"]] == runtimes


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


def test_tasks_are_called_by_what_tells_them_apart(board: Board) -> None:
    names = {"digits_fcn_bn": "fcn_bn", "digits_nin": "nin"}
    assert replace(board, tasks=list(names)).short_tasks == names
    for alone in (["digits_nin"], ["a_", "a_b"], ["a", "a_b"], []):
        assert all(replace(board, tasks=alone).short_tasks.values())
    assert replace(board, tasks=["digits_nin"]).short_tasks == {"digits_nin": "digits_nin"}
