"""The board as parquet: a line per row and task, with all digits, for pandas, Polars or DuckDB."""

import io

from harness.board.board import Board
from harness.board.per_task import FIGURES, lines

SUFFIX = ".parquet"
BINARY = True


def render(board: Board) -> bytes:
    """Return the file's content; scores are 0 to 100, correlations -1 to 1, missing values null."""
    import pyarrow as pa
    from pyarrow import parquet

    arrow = {str: pa.string(), float: pa.float64(), int: pa.int64()}
    texts = {name: pa.string() for name in (*(column.key for column in board.identity), "task")}
    numbers = {name: kind for name, (kind, _) in board.whole.items()}
    numbers |= {name: FIGURES[name][0] for name in board.per_task}
    schema = pa.schema(texts | {name: arrow[kind] for name, kind in numbers.items()})
    records = [line for row in board.rows for line in lines(board, row)]
    stream = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(records, schema=schema), stream)
    return stream.getvalue()
