"""Mutated SQLite files: odd values in any column, other tables in place of those that are there, and odd pages."""

import random
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

#: Values that SQLite stores in any column.
VALUES = [
    None, 0, -1, 2**63 - 1, 0.5, float("inf"), -0.0, "", "x", b"", b"\xff\x00", "\0", "\x1b[2J", "a\nb", "é", "OK",
    "TIMEOUT", "[" * 3000, "{}", '{"a": 1e999}', "2027-01-01 00:00:00.000000", "0000-00-00", "x" * 200_000, "NaN",
    "1" * 5000,
]  # fmt: skip

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS submission FROM n"

#: Statements of a stranger; {table} and {column} are names.
STATEMENTS = [
    "DROP TABLE {table}", f"CREATE VIEW more AS {ENDLESS}", "ALTER TABLE {table} ADD COLUMN more",
    "ALTER TABLE {table} RENAME TO more", "ALTER TABLE {table} RENAME COLUMN {column} TO more",
    "ALTER TABLE {table} DROP COLUMN {column}", "DELETE FROM {table}", "INSERT INTO {table} SELECT * FROM {table}",
    "CREATE TRIGGER more AFTER UPDATE ON {table} BEGIN DELETE FROM {table}; END",
    "CREATE INDEX more ON {table} ({column})", "CREATE INDEX more ON {table} (length({column}))",
    "DROP INDEX ix_evaluations_version", "CREATE INDEX ix_evaluations_version ON evaluations (outcome)",
    "UPDATE alembic_version SET version_num = '2'", "UPDATE alembic_version SET version_num = x'ff'",
    "DELETE FROM alembic_version", "PRAGMA user_version = 7", "PRAGMA journal_mode = WAL", "PRAGMA encoding = 'UTF-16'",
    "UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'TEXT AS (1)')",
    "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')", "VACUUM", "ANALYZE",
    "UPDATE sqlite_master SET rootpage = 1 + rootpage * 7 % 12", "UPDATE sqlite_master SET type = 'view'",
    "UPDATE sqlite_master SET name = 'x', tbl_name = 'x' WHERE name = '{table}'",
    "UPDATE sqlite_master SET sql = sql || '/*' || hex(zeroblob(20000))",
]  # fmt: skip


def changed_database(content: bytes, chance: random.Random) -> bytes:
    """Return a changed database; content that is none comes back as it is, or with a changed page."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "x.db")
        file.write_bytes(content)
        with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as connection:
            for _ in range(chance.choice((1, 1, 3))):
                chance.choice(_CHANGES)(connection, chance)
            connection.commit()
        content = file.read_bytes()
    if chance.random() < 0.3 and len(content) > 4096:
        place = 4096 * chance.randrange(len(content) // 4096) + chance.randrange(16)  # the head of a page
        return content[:place] + chance.randbytes(chance.randint(1, 4)) + content[place:][4:]
    return content


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def _place(connection: sqlite3.Connection, chance: random.Random) -> tuple[str, str]:
    table = chance.choice(_tables(connection))
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    return table, chance.choice(columns)


def _value(connection: sqlite3.Connection, chance: random.Random) -> None:
    table, column = _place(connection, chance)
    connection.execute(
        f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % ? = 0', [chance.choice(VALUES), chance.choice((1, 3, 8))]
    )


def _statement(connection: sqlite3.Connection, chance: random.Random) -> None:
    table, column = _place(connection, chance)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(chance.choice(STATEMENTS).replace("{table}", table).replace("{column}", column))


_CHANGES: list[Callable[[sqlite3.Connection, random.Random], None]] = [_value, _value, _value, _statement, _statement]
