"""Tasks that are named like columns: keys tell columns apart where headings do not."""

import csv
import io
import json

import pytest
from board_examples import GAPS, MEASURE, references, rows

from harness.board.collect import collect
from harness.board.comparison import compare
from harness.board.formats import find
from harness.board.leaderboard import Leaderboard, build_board
from scoring import HeldOut

#: As many other columns as there are, and a task that is named like the column of another.
TASKS = ["group", "interval", "kendall", "rank", "ranks", "score", "score:rank", "submission", "task", "version"]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    known = references(tmp_path_factory.mktemp("reference"), *TASKS)
    evaluations = [row for task in TASKS for row in rows("mine", GAPS if task == "score" else MEASURE, task)]
    held_out = {name: HeldOut([0.5] * 8, 1000) for name in TASKS}
    return build_board(collect(evaluations, known), known, held_out=held_out)


def test_keys_are_distinct(board: Leaderboard) -> None:
    for columns in (board.columns, board.figures, board.identity):
        keys = [column.key for column in columns]
        assert sorted(set(keys)) == sorted(keys)


def test_csv_has_the_score_and_that_of_each_task(board: Leaderboard) -> None:
    (found,) = csv.DictReader(io.StringIO(str(find("csv").render(board))))
    (row,) = board.rows
    assert float(found["score"]) == pytest.approx(row.score)
    assert float(found["score:score"]) == pytest.approx(100)
    assert {name: float(found[f"score:{name}"]) for name in TASKS} == {n: t.official for n, t in row.tasks.items()}
    assert (found["submission"], found["rank"]) == ("mine", "1")


def test_readers_see_a_column_for_each(board: Leaderboard) -> None:
    (row,) = board.rows
    cells = dict(zip((column.key for column in board.columns), board.cells(row), strict=True))
    assert row.standing is not None
    assert cells["score"] != cells["score:score"] == "100.00"
    assert cells["interval"] == f"{row.standing.low:.1f}-{row.standing.high:.1f}"
    assert len(board.headings) == len(cells)


def test_parquet_has_a_line_per_task(board: Leaderboard) -> None:
    import pyarrow.parquet as parquet

    table = parquet.read_table(io.BytesIO(find("parquet").render(board)))  # type: ignore[arg-type]
    assert table.column("task").to_pylist() == TASKS
    assert table.column("final_score").to_pylist() == [board.rows[0].score] * len(TASKS)


def test_a_comparison_has_every_column(tmp_path_factory: pytest.TempPathFactory) -> None:
    known = references(tmp_path_factory.mktemp("reference"), *TASKS)
    found = compare([row for task in TASKS for row in rows("vc_dim", GAPS, task)], known, {"vc_dim": "size"})
    keys = [column.key for column in found.figures]
    assert sorted(set(keys)) == sorted(keys)
    assert json.loads(str(find("json").render(found)))[0]["measure"] == "vc_dim"
