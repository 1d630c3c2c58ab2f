"""Changes of any file's bytes, of text, of JSON and of databases."""

import json
import random
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

Random = random.Random

#: A change of a file's content.
Change = Callable[[bytes, Random], bytes]

#: Bytes from which a file no longer grows.
MOST = 2**22

#: Numbers at which programs go wrong.
NUMBERS = [
    0, 1, -1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1,
]  # fmt: skip

#: Pieces of text at which parsers of any kind go wrong.
PIECES = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b'"""', b"'''", b"\\", b"\\u0000",
    b"{", b"}", b"[", b"]", b"[[", b",", b":", b": ", b"- ", b"? ", b"<<: *a\n", b"&a ", b"*a", b"!!binary ", b"!",
    b"!!python/object:os.system ", b"%YAML 1.1\n", b"---\n", b"...\n", b"| \n", b"# ", b"=", b".", b"-", b"+", b"/",
    b"a." * 2000, b"[" * 2000, b"{" * 2000, b"- " * 2000, b"\t" * 2000, b"1" * 5000, b"x" * 70_000, b"../" * 50, b"%s",
    b"1e999", b"nan", b"inf", b"0x1", b"2027-02-30", b"9999-12-31T23:59:60Z", b"\x1b[2J", "\u202e".encode(), b"{0}",
]  # fmt: skip


def changed(content: bytes, chance: Random) -> bytes:
    return chance.choice(_CHANGES)(content, chance)


def _place(content: bytes, chance: Random) -> int:
    """Return a random position, more often near the beginning and the end, where headers are."""
    length = len(content)
    near = min(length, 512)
    return chance.choice((chance.randint(0, length), chance.randint(0, near), length - chance.randint(0, near)))


def flipped(content: bytes, chance: Random) -> bytes:
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 3, 20)) if found else 0):
        place = min(_place(content, chance), len(found) - 1)
        odd = (found[place] ^ 1 << chance.randrange(8), 0, 0xFF, 0x7F, 0x80, chance.randrange(256))
        found[place] = chance.choice(odd)
    return bytes(found)


def _number(content: bytes, chance: Random) -> bytes:
    size, number, place = chance.choice((1, 2, 4, 8)), chance.choice(NUMBERS), _place(content, chance)
    stored = (number % 256**size).to_bytes(size, "little")
    return content[:place] + chance.choice((stored, stored[::-1])) + content[place + size :]


def _cut(content: bytes, chance: Random) -> bytes:
    start, end = sorted((_place(content, chance), _place(content, chance)))
    return chance.choice((content[:start], content[start:], content[:start] + content[end:]))


def _repeat(content: bytes, chance: Random) -> bytes:
    start, end = sorted((_place(content, chance), _place(content, chance)))
    times = min(chance.choice((2, 3, 100, 5000)), 1 + MOST // max(end - start, 1))
    return content[:start] + content[start:end] * times + content[end:]


def _insert(content: bytes, chance: Random) -> bytes:
    place = _place(content, chance)
    piece = chance.choice((*PIECES, chance.randbytes(chance.randint(1, 64)), bytes(4096)))
    return content[:place] + piece + content[place:]


def _exchange(content: bytes, chance: Random) -> bytes:
    a, b, c, d = sorted(_place(content, chance) for _ in range(4))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


_CHANGES: list[Change] = [flipped, flipped, _number, _number, _cut, _repeat, _insert, _exchange]

#: Values of JSON at which programs go wrong, as text.
ODD_JSON = [
    "null", "true", "[]", "{}", '""', "-1", "0", "2.5", "1e999", "NaN", "-Infinity", "1" * 5000, "1e-400", '"Dense"',
    "9007199254740993.5", '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"' + "x" * 70_000 + '"', "[" * 300 + "]" * 300,
    "[" * 5000, '{"a": ' * 300, "[" + "0," * 50_000 + "0]", '[["a", 0, 0]]',
    '{"class_name": "Sequential", "config": {"layers": []}}',
]  # fmt: skip

_MARK = "<<odd>>"


def changed_text(content: bytes, chance: Random) -> bytes:
    """Return text with a line repeated, removed, replaced, or with an inserted piece or number that parsers dislike."""
    lines = content.splitlines(keepends=True) or [b""]
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    line = lines[place]
    split = chance.randint(0, len(line))
    with_piece = line[:split] + chance.choice(PIECES) + line[split:]
    with_number = re.sub(rb"\d+", str(chance.choice(NUMBERS)).encode(), line, count=1)
    many = [line] * min(3000, 1 + MOST // (len(line) + 1))
    lines[place : place + 1] = chance.choice(([line, line], [], [lines[other]], [with_piece], [with_number], many))
    return b"".join(lines)


def changed_json(content: bytes, chance: Random) -> bytes:
    """Return JSON with one value replaced, removed, renamed or doubled."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return changed_text(content, chance)
    places = list(_places(found))
    holder, key = chance.choice(places)
    what = chance.randrange(6)
    if what == 0 and isinstance(holder, dict):
        holder[chance.choice(("x", "class_name", "config", "layers", "name", key + "x", ""))] = holder.pop(key)
    elif what == 1:
        del holder[key]
    elif what == 2:
        other, its = chance.choice(places)
        holder[key] = deepcopy(other[its])
    else:
        holder[key] = _MARK
    text = json.dumps(found).replace(f'"{_MARK}"', chance.choice(ODD_JSON))
    if chance.random() < 0.05:  # a key twice
        text = chance.choice((text.replace("{", '{"name": 1, ', 1), text.replace("}", ', "name": 2}', 1)))
    return text.encode("utf-8", "surrogatepass")


def changed_json_line(content: bytes, chance: Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    place = chance.randrange(len(lines))
    lines[place] = changed_json(lines[place], chance).strip() + b"\n"
    return b"".join(lines)


def _places(found: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (holder, key) of every value in JSON; the holder is a list or an object."""
    pending: list[Any] = [{"": found}]
    while pending:
        holder = pending.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list) and holder[key]:
                pending.append(holder[key])


#: Values that SQLite stores in any column.
VALUES = [
    None, 0, -1, 2**63 - 1, 0.5, float("inf"), -0.0, "", "x", b"", b"\xff\x00", "\0", "\x1b[2J", "a\nb", "é", "OK",
    "TIMEOUT", "[" * 3000, "{}", '{"a": 1e999}', "2027-01-01 00:00:00.000000", "0000-00-00", "x" * 200_000, "NaN",
    "1" * 5000,
]  # fmt: skip

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS submission FROM n"

#: Statements of a stranger; {table} and {column} are names.
SQL = [
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


def changed_database(content: bytes, chance: Random) -> bytes:
    """Return a changed database; other content is returned unchanged, or with a changed page."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "x.db")
        file.write_bytes(content)
        with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as connection:
            for _ in range(chance.choice((1, 1, 3))):
                chance.choice(_DATABASE_CHANGES)(connection, chance)
            connection.commit()
        content = file.read_bytes()
    if chance.random() < 0.3 and len(content) > 4096:
        place = 4096 * chance.randrange(len(content) // 4096) + chance.randrange(16)  # the head of a page
        return content[:place] + chance.randbytes(chance.randint(1, 4)) + content[place:][4:]
    return content


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def _column_of(connection: sqlite3.Connection, chance: Random) -> tuple[str, str]:
    table = chance.choice(_tables(connection))
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    return table, chance.choice(columns)


def _value(connection: sqlite3.Connection, chance: Random) -> None:
    table, column = _column_of(connection, chance)
    connection.execute(
        f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % ? = 0', [chance.choice(VALUES), chance.choice((1, 3, 8))]
    )


def _statement(connection: sqlite3.Connection, chance: Random) -> None:
    table, column = _column_of(connection, chance)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(chance.choice(SQL).replace("{table}", table).replace("{column}", column))


_DATABASE_CHANGES: list[Callable[[sqlite3.Connection, Random], None]] = [_value, _value, _value, _statement, _statement]
