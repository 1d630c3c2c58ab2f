"""The board as parquet, for pandas, Polars or DuckDB: a line for each row and task, with all digits."""

import io

from harness.board.board import Board

SUFFIX = ".parquet"
BINARY = True


def render(board: Board) -> bytes:
    """Return the content of a parquet file. Missing values are null; the unit of a field is in the field's metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    arrow = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
    schema = pa.schema(
        [pa.field(one.key, arrow[one.type], metadata={"unit": one.unit} if one.unit else None) for one in board.lines]
    )
    records = [line for row in board.rows for line in board.lines_of(row)]
    stream = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(records, schema=schema), stream)
    return stream.getvalue()
