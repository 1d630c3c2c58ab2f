"""Tests of all formats of boards: each is one file, and writes every kind of board with all its content."""

import re
import sys
from pathlib import Path

import hypothesis.strategies as st
import pytest
from board_examples import GAPS, MEASURE, MODELS, Known, board_of, by_name, collect, compare, failed, references, rows
from click.testing import CliRunner
from hypothesis import example, given
from pyarrow import BufferReader, parquet

from harness.board import formats
from harness.board.board import Board
from harness.board.collect import Calls
from harness.board.formats.latex import escaped
from harness.board.remarks import settings_labels
from harness.cli.main import cli
from harness.outcome import Outcome
from harness.text import printable

TASKS = ["open", "secret"]
HOSTILE = r"a&b\\%_#$^~{}<|>"


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Board]:
    """Both kinds of board, made from the same records; one task is hidden."""
    known = references(tmp_path_factory.mktemp("reference"), *TASKS)
    evaluations = [
        *rows("good", GAPS, TASKS), *rows(HOSTILE, MEASURE, TASKS),
        *(failed("bad", model, Outcome.CRASH, task, message="it broke") for model in MODELS for task in TASKS),
    ]  # fmt: skip
    families = {"good": "norm", HOSTILE: "margin", "bad": "norm"}
    return {
        "leaderboard": board_of(evaluations, known, ["secret"]),
        "comparison": compare(evaluations, known, families, ["secret"]),
    }


def test_the_command_line_takes_its_choices_from_the_files_there() -> None:
    files = sorted(path.stem for path in Path(formats.__path__[0]).glob("*.py") if path.stem != "__init__")
    assert formats.names() == files
    for command in ("board", "compare"):
        assert f"[{'|'.join(files)}]" in CliRunner().invoke(cli, [command, "--help"], env={"COLUMNS": "200"}).output


def test_another_file_is_another_format(
    boards: dict[str, Board], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "names_only.py").write_text(
        'SUFFIX = ".txt"\n\ndef render(board):\n    return "".join(f"{row.submission}\\n" for row in board.rows)\n'
    )
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "harness.board.formats.names_only", raising=False)
    assert "names_only" in formats.names()
    assert formats.find("names_only").SUFFIX == ".txt"
    assert formats.find("names_only").render(boards["comparison"]) == f"good\n{HOSTILE}\nbad\n"


def test_the_calls_behind_the_cells_are_in_the_board_but_for_hidden_tasks(boards: dict[str, Board]) -> None:
    for board in boards.values():
        found = by_name(board)
        calls = found[HOSTILE].tasks["open"].calls
        assert {model: call.value for model, call in calls.items()} == dict(zip(MODELS, MEASURE, strict=True))
        assert all(call.peak_memory_bytes > 0 and call.started_at is not None for call in calls.values())
        assert found[HOSTILE].tasks["secret"].calls == {}
        bad = found["bad"].tasks
        assert (bad["secret"].failures, bad["open"].reason) == ({"CRASH": 8}, "8 CRASH: it broke")
        assert "it broke" not in bad["secret"].reason


def test_no_format_of_the_leaderboard_tells_why_calls_on_hidden_tasks_failed(single: Known) -> None:
    evaluations = [failed("bad", model, Outcome.CRASH, message="it broke") for model in MODELS]
    for withheld, told in (([], True), (["toy"], False)):
        contents = [formats.find(name).render(board_of(evaluations, single, withheld)) for name in formats.names()]
        texts = [
            content if isinstance(content, str) else str(parquet.read_table(BufferReader(content)).to_pylist())
            for content in contents
        ]
        assert any("it broke" in text for text in texts) == told
        assert any("8 CRASH" in text for text in texts)


#: What `escaped` writes for one character, and what LaTeX sets for it.
SET = {
    "textbackslash{}": "\\", "textasciitilde{}": "~", "textasciicircum{}": "^", "textless{}": "<",
    "textgreater{}": ">", "textbar{}": "|", **{character: character for character in "&%$#_{}"},
}  # fmt: skip


@given(st.text(st.characters(codec="utf-8")))
@example(r"\input{/etc/passwd}")
@example("\\\\ & \n\n%")
def test_no_name_is_a_command_of_latex(text: str) -> None:
    """Every special character is escaped by a backslash, and the typeset text is the printable text."""
    tokens = re.findall(r"\\(text\w+\{\}|[&%$#_{}])|([^\\~^<>|&%$#_{}\n])", escaped(f"x{text}"))
    expected = printable(re.sub(r"[\s\x00-\x1f\x7f]+", " ", f"x{text}"))
    assert "".join(SET[special] if special else plain for special, plain in tokens) == expected
    assert re.sub(r"\\(text\w+\{\}|[&%$#_{}])|[^\\~^<>|&%$#_{}\n]", "", escaped(f"x{text}")) == ""


@pytest.mark.parametrize(
    ("text", "set_as"),
    [("[1cm]x", "{[}1cm]x"), ("*x", "{*}x"), ("-1 (-2 to -1)", "$-$1 ($-$2 to $-$1)"), ("a-1[b]*", "a-1[b]*")],
)
def test_no_name_is_an_argument_of_the_line_before_it(text: str, set_as: str) -> None:
    """LaTeX takes a bracket or an asterisk at the start of a line as an argument of the line end before it."""
    assert escaped(text) == set_as


@pytest.fixture
def leaderboard(single: Known) -> Board:
    records = [*rows("mine"), *rows("theirs", GAPS, is_baseline=True), *rows("bold", GAPS, sandbox="none")]
    return board_of(records, single)


def test_a_board_of_one_task_shows_its_scores_once_and_only_sandboxed_submissions_are_not_faint(
    leaderboard: Board,
) -> None:
    assert "toy" not in leaderboard.headings
    (scores,) = {(row["score"], row["score:toy"]) for row in leaderboard.to_records() if row["submission"] == "mine"}
    assert scores[0] == scores[1]
    faint = {row.submission: leaderboard.is_faint(row) for row in leaderboard.rows}
    assert faint == {"mine": False, "theirs": True, "bold": True}


def test_keys_of_the_leaderboard(leaderboard: Board) -> None:
    content = leaderboard.content
    assert content.keys() == {"rule", "remarks", "oracle", "hyperparameters", "across_tasks", "rows"}
    for row in content["rows"]:
        assert row.keys() == {
            "rank", "submission", "kind", "calls_ok", "calls_expected", "seconds_per_model", "sandboxed", "version",
            "requested_at", "configuration", "runtime", "settings", "stale", "chance", "excess", "excess_low",
            "excess_high", "p_value", "adjusted_p_value",
            "beyond_hyperparameters", "rounded", "standing", "own_randomness", "score", "team", "description", "paper",
            "complete", "exceeded", "tasks",
        }  # fmt: skip
        assert row["configuration"].keys() >= {"id", "run_seed", "runtime", "isolation"}
        assert row["tasks"]["toy"].keys() == {
            "official", "printed", "kendall", "granulated_kendall", "n_models", "official_pairs", "printed_subsets",
            "granulated_psi", "undefined", "chance", "p_value", "adjusted_p_value",
        }  # fmt: skip


def test_keys_of_a_comparison(single: Known) -> None:
    (row,) = compare(rows("vc_dim", MEASURE), single, {"vc_dim": "size"}).content
    assert row.keys() == {
        "rank", "measure", "family", "score", "low", "high", "tasks_low", "tasks_high", "chance", "excess",
        "excess_low", "excess_high", "p_value", "adjusted_p_value", "beyond_hyperparameters", "kendall",
        "seconds_per_model", "complete", "sandboxed", "tasks",
    }  # fmt: skip
    (line,) = row["tasks"]
    assert line.keys() == {
        "measure", "family", "beyond_hyperparameters", "task", "score", "chance", "p_value", "printed", "kendall",
        "granulated_kendall", "seconds_per_model", "models", "failed", "outcomes", "reason",
    }  # fmt: skip


def test_another_sandbox_than_that_of_most_rows_is_in_the_label(single: Known) -> None:
    shown = collect([*rows("a"), *rows("b"), *rows("c", sandbox="landlock")], single).shown
    assert settings_labels(shown) == ["", "", "sandbox landlock"]
    assert settings_labels([Calls("one", True, {}), Calls("other", True, {})]) == ["", ""], "without a configuration"
