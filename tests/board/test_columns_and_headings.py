"""Tests of odd task names: in every format, each cell is found under its task or column."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pyarrow.parquet as parquet
import pytest
from board_examples import HARD_NAMES

from harness.board.board import Board
from harness.board.column import Column, TaskColumn
from harness.board.columns import COLUMNS, MORE
from harness.board.comparison import MeasureComparison
from harness.board.formats import find, table
from harness.board.leaderboard import Leaderboard
from harness.board.on_task import OnTask
from harness.board.row import Row
from scoring import Standing, SubmissionScore, TaskScore


def names() -> list[str]:
    """Task names that equal the keys and headings of columns, also in capitals, and names that are hard to write."""
    like = {name for one in COLUMNS for name in (one.key, one.heading)} - {""}
    return sorted({*like, *map(str.upper, like), *HARD_NAMES, *(f"score:{name}" for name in like)})


TASKS = names()


def row(name: str, share: float) -> Row:
    """A row with a different score on each task."""
    scores: dict[str, TaskScore | str] = {
        task: TaskScore(8, "", number * share, {}, number * share / 2, {}, -number * share, 0.5, {})
        for number, task in enumerate(TASKS, 1)
    }
    return Row(
        1, name, "submission", SubmissionScore(100 * share, scores, True, False), family="norm", sandboxed=True,
        tasks={task: OnTask(task, result, 8, Counter({"CRASH": 1}), {}) for task, result in scores.items()},
        standing=Standing(100 * share, 1.0, 0.5, 0.25, 1.5, 98.5, 3, 4, 5, 0.5, 99.0, True),
    )  # fmt: skip


@pytest.fixture(params=[Leaderboard, MeasureComparison])
def board(request: pytest.FixtureRequest) -> Board:
    kind: type[Board] = request.param
    return kind([row("mine", 0.001), row("score", 0.002)], TASKS)


@pytest.fixture(params=[(), tuple(MORE)])
def wider(request: pytest.FixtureRequest, board: Board) -> Board:
    return board.with_columns(request.param)


def standing(row: Row) -> dict[str, float | None]:
    """Return the ends of both intervals of the score."""
    return {key: getattr(row.standing, key) for key in ("low", "high", "tasks_low", "tasks_high")}


def expected(board: Board) -> list[dict[str, object]]:
    """Return key -> value of each row, taken from the results alone."""
    found = []
    for one in board.rows:
        keyed = {f"score:{task}": result.official for task, result in one.tasks.items()}
        found.append({"score": one.score, "rank": one.rank, **standing(one)} | keyed)
    return found


def test_keys_are_distinct(wider: Board) -> None:
    for columns in (wider.columns, wider.figures, wider.lines):
        keys = [column.key for column in columns]
        assert sorted(set(keys)) == sorted(keys)


def test_every_task_has_its_column(wider: Board) -> None:
    own = wider.own_columns("f")
    kinds = [one for one in own if isinstance(one, TaskColumn)]
    more = [one for one in wider.more if one not in kinds]
    assert len(wider.figures) == len(own) + len(kinds + more) * len(TASKS) - len(kinds)


def test_csv(wider: Board) -> None:
    text = str(find("csv").render(wider))
    for found, wanted in zip(csv.DictReader(io.StringIO(text)), expected(wider), strict=True):
        assert {key: float(found[key]) for key in wanted} == wanted
        assert found[wider.figures[1].key] in ("mine", "score")
    heading, *lines = csv.reader(io.StringIO(text))
    assert {len(line) for line in lines} == {len(heading)} == {len(wider.figures)}


def test_records_for_a_data_frame(wider: Board) -> None:
    for found, wanted in zip(wider.to_records(), expected(wider), strict=True):
        assert found | wanted == found


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


def in_markdown(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            yield [re.sub(r"\\(.)", r"\1", cell).strip().strip("`") for cell in cells]


def in_latex(text: str) -> Iterator[list[str]]:
    words = {"textbackslash{}": "\\", "textasciitilde{}": "~", "textasciicircum{}": "^", "textless{}": "<",
             "textgreater{}": ">", "textbar{}": "|"}  # fmt: skip
    for line in text.replace("$-$", "-").splitlines():
        if line.endswith("\\\\"):
            cells = re.split(r"(?<!\\)&", line.removesuffix("\\\\"))
            special = r"\\(text\w+\{\}|.)"
            yield [re.sub(special, lambda found: words.get(found[1], found[1]), cell).strip() for cell in cells]


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
