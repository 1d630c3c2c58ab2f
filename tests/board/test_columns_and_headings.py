"""Tests of a board's formats: their files are the choices, and each cell is found under its task or column, however odd
the task's name.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis.strategies as st
import pyarrow.parquet as parquet
import pytest
from board_examples import (
    GAPS,
    HARD_NAMES,
    MEASURE,
    MODELS,
    Known,
    board_of,
    by_name,
    compare,
    failed,
    rows,
)
from click.testing import CliRunner
from hypothesis import example, given, settings

from harness.board import formats
from harness.board.board import Board
from harness.board.column import Column, TaskColumn
from harness.board.columns import (
    COLUMNS,
    EXCESS,
    EXCESS_HIGH,
    EXCESS_LOW,
    MORE,
    TASK_GRANULATED,
    TASK_ROBUST_SIGN_ERROR,
    TASK_SIGN_ERROR,
)
from harness.board.comparison import MeasureComparison
from harness.board.formats import find, table
from harness.board.formats.latex import escaped
from harness.board.leaderboard import Leaderboard
from harness.board.on_task import OnTask
from harness.board.row import Row
from harness.cli.main import cli
from harness.outcome import Outcome
from harness.text import printable
from scoring import Standing, SubmissionScore, TaskScore, granulated_kendall, sign_errors

#: Keys and headings of columns; they are names of tasks, also in capitals.
LIKE = {name for one in COLUMNS for name in (one.key, one.heading)} - {""}
TASKS = sorted({*LIKE, *map(str.upper, LIKE), *HARD_NAMES, "score:score", "score:rank", "score:a b"})


def row(name: str, share: float) -> Row:
    scores: dict[str, TaskScore | str] = {
        task: TaskScore(8, "", number * share, {}, number * share / 2, {}, -number * share, 0.5, {})
        for number, task in enumerate(TASKS, 1)
    }
    return Row(
        1, name, "submission", SubmissionScore(100 * share, scores, True, False), family="norm", sandboxed=True,
        tasks={task: OnTask(task, result, 8, Counter({"CRASH": 1}), {}) for task, result in scores.items()},
        standing=Standing(100 * share, 1.0, 0.5, 0.25, 1.5, 98.5, 3, 4, 5, 0.5, 99.0, True),
    )  # fmt: skip


@pytest.fixture(params=[(Leaderboard, ()), (Leaderboard, MORE), (MeasureComparison, MORE)], scope="module")
def wider(request: pytest.FixtureRequest) -> Board:
    kind, more = request.param
    return kind([row("mine", 0.001), row("score", 0.002)], TASKS).with_columns(tuple(more))


def standing(row: Row) -> dict[str, float | None]:
    return {key: getattr(row.standing, key) for key in ("low", "high", "tasks_low", "tasks_high")}


def expected(board: Board) -> list[dict[str, object]]:
    found = []
    for one in board.rows:
        keyed = {f"score:{task}": result.official for task, result in one.tasks.items()}
        found.append({"score": one.score, "rank": one.rank, **standing(one)} | keyed)
    return found


def test_keys_are_distinct_and_every_task_has_its_column(wider: Board) -> None:
    for columns in (wider.columns, wider.figures, wider.lines):
        keys = [column.key for column in columns]
        assert sorted(set(keys)) == sorted(keys)
    own = wider.own_columns("f")
    kinds = [one for one in own if isinstance(one, TaskColumn)]
    more = [one for one in wider.more if one not in kinds]
    assert len(wider.figures) == len(own) + len(kinds + more) * len(TASKS) - len(kinds)


def test_csv_and_records_for_a_data_frame(wider: Board) -> None:
    heading, *lines = csv.reader(io.StringIO(str(find("csv").render(wider))))
    assert {len(line) for line in lines} == {len(heading)} == {len(wider.figures)}
    for line, record, wanted in zip(lines, wider.to_records(), expected(wider), strict=True):
        found = dict(zip(heading, line, strict=True))
        assert {key: float(found[key]) for key in wanted} == wanted
        assert found[wider.figures[1].key] in ("mine", "score")
        assert record | wanted == record


def test_json(wider: Board) -> None:
    content = json.loads(str(find("json").render(wider)))
    for found, one in zip(content if isinstance(content, list) else content["rows"], wider.rows, strict=True):
        tasks = found["tasks"]
        if isinstance(tasks, list):
            tasks = {line["task"]: {"official": line["score"], **line} for line in tasks}
        assert found["score"] == one.score
        intervals = found.get("standing", found)
        assert {key: intervals[key] for key in standing(one)} == standing(one)
        assert {task: tasks[task]["official"] for task in TASKS} == {t: one.tasks[t].official for t in TASKS}
        for key in (column.key for column in wider.more):
            assert {task: tasks[task][key] for task in TASKS} == {t: MORE[key].value(one.tasks[t]) for t in TASKS}


def test_parquet(wider: Board) -> None:
    table = parquet.read_table(io.BytesIO(find("parquet").render(wider)))  # type: ignore[arg-type]
    lines = table.to_pylist()
    assert [line["task"] for line in lines] == TASKS * len(wider.rows)
    wanted = [(result.official, result.kendall) for one in wider.rows for result in one.tasks.values()]
    assert [(line["score"], line["kendall"]) for line in lines] == wanted
    if "low" in lines[0]:
        ends = [standing(one) for one in wider.rows for _ in TASKS]
        assert [{key: line[key] for key in end} for line, end in zip(lines, ends, strict=True)] == ends
    assert table.schema.field("score").metadata == {b"unit": b"0 to 100"}


#: What `escaped` writes for one character, and what LaTeX sets for it.
SET = {
    "textbackslash{}": "\\", "textasciitilde{}": "~", "textasciicircum{}": "^", "textless{}": "<",
    "textgreater{}": ">", "textbar{}": "|", **{character: character for character in "&%$#_{}"},
}  # fmt: skip


def in_markdown(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            yield [re.sub(r"\\(.)", r"\1", cell).strip().strip("`") for cell in cells]


def in_latex(text: str) -> Iterator[list[str]]:
    for line in text.replace("$-$", "-").splitlines():
        if line.endswith("\\\\"):
            cells = re.split(r"(?<!\\)&", line.removesuffix("\\\\"))
            special = r"\\(text\w+\{\}|.)"
            yield [re.sub(special, lambda found: SET.get(found[1], found[1]), cell).strip() for cell in cells]


def in_table(text: str) -> Iterator[list[str]]:
    """Yield the cells of each line: columns are separated by two spaces; empty cells are lost."""
    for line in text.partition("\n\n")[0].splitlines():
        yield re.split(r" {2,}", without_drawing(line))


def without_drawing(cell: str) -> str:
    """Replace the drawing of an interval, which contains spaces, by the word "drawn"."""
    return re.sub("[\u2500\u2502\u25cf](?:[\u2500\u2502\u25cf ]*[\u2500\u2502\u25cf])?", "drawn", cell).strip()


@pytest.mark.parametrize(
    ("form", "parse"), [("markdown", in_markdown), ("latex", in_latex), ("table", in_table)], ids=["md", "tex", "table"]
)
def test_readers_see_each_cell_below_its_heading(
    form: str, parse: Callable[[str], Iterator[list[str]]], wider: Board
) -> None:
    heading, *lines = [cells for cells in parse(str(find(form).render(wider))) if set(cells) != {"---"}]
    columns = list(wider.columns)
    if form == "table":
        columns = [one for one in table.terminal_columns(wider) if any(one.shown(row) for row in wider.rows)]
    assert heading == [one.heading for one in columns]
    assert lines == [[without_drawing(one.shown(row)) for one in columns] for row in wider.rows]
    for cells, row in zip(lines, wider.rows, strict=True):
        found = dict(zip((one.key for one in columns), cells, strict=True))
        assert {task: found[f"score:{task}"] for task in TASKS} == {
            task: f"{result.official:.2f}" for task, result in row.tasks.items()
        }
        assert found["score"] == f"{row.score:.2f}"


def test_a_number_that_is_rounded_to_0_has_no_sign() -> None:
    kendall = Column[float]("kendall", lambda number: number, digits=3)
    assert [kendall.shown(number) for number in (-0.0002, 0.0, -0.0006)] == ["0.000", "0.000", "-0.001"]


def test_the_command_line_takes_its_choices_from_the_files_there() -> None:
    files = sorted(path.stem for path in Path(formats.__path__[0]).glob("*.py") if path.stem != "__init__")
    assert formats.names() == files
    for command in ("board", "compare"):
        assert f"[{'|'.join(files)}]" in CliRunner().invoke(cli, [command, "--help"], env={"COLUMNS": "200"}).output


def test_the_calls_behind_the_cells_are_in_the_board_but_for_hidden_tasks(known: Known) -> None:
    evaluations = [
        *rows("good", MEASURE, [*known]),
        *(failed("bad", model, Outcome.CRASH, task, message="it broke") for model in MODELS for task in known),
    ]
    compared = compare(evaluations, known, {"good": "norm", "bad": "norm"}, ["second"])
    for found in map(by_name, (board_of(evaluations, known, ["second"]), compared)):
        calls = found["good"].tasks["toy"].calls
        assert {model: call.value for model, call in calls.items()} == dict(zip(MODELS, MEASURE, strict=True))
        assert all(call.peak_memory_bytes > 0 and call.started_at is not None for call in calls.values())
        assert found["good"].tasks["second"].calls == {}
        bad = found["bad"].tasks
        assert (bad["second"].failures, bad["toy"].reason) == ({"CRASH": 8}, "8 CRASH: it broke")
        assert "it broke" not in bad["second"].reason


@settings(max_examples=30)
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


def test_a_board_of_one_task_has_its_scores_once_and_all_keys(single: Known) -> None:
    """Only sandboxed submissions are not faint."""
    board = board_of([*rows("mine"), *rows("b", GAPS, is_baseline=True), *rows("c", GAPS, sandbox="none")], single)
    assert "toy" not in board.headings
    assert all(row["score"] == row["score:toy"] for row in board.to_records())
    assert {row.submission: board.is_faint(row) for row in board.rows} == {"mine": False, "b": True, "c": True}
    content = board.content
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


def test_neighbouring_columns_have_each_its_own_number(single: Known) -> None:
    row, grid = by_name(board_of(rows("mine"), single))["mine"], single["toy"].grid
    task, errors = row.tasks["toy"], sign_errors(MEASURE, GAPS, grid).overall
    assert TASK_GRANULATED.value(task) == granulated_kendall(MEASURE, GAPS, grid).score != task.kendall
    assert TASK_SIGN_ERROR.value(task) == errors.mean != errors.robust
    assert TASK_ROBUST_SIGN_ERROR.value(task) == errors.robust
    assert EXCESS_LOW.value(row) < EXCESS.value(row) < EXCESS_HIGH.value(row)


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
