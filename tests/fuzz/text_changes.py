"""Changes of text and of JSON: lines that are repeated or removed, and odd values."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tests.fuzz.byte_changes import MOST, NUMBERS, PIECES, Random

#: Values of JSON at which programs go wrong, as text.
ODD_JSON = [
    "null", "true", "[]", "{}", '""', "-1", "0", "2.5", "1e999", "NaN", "-Infinity", "1" * 5000, "1e-400", '"Dense"',
    "9007199254740993.5", '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"' + "x" * 70_000 + '"', "[" * 300 + "]" * 300,
    "[" * 5000, '{"a": ' * 300, "[" + "0," * 50_000 + "0]", '[["a", 0, 0]]',
    '{"class_name": "Sequential", "config": {"layers": []}}',
]  # fmt: skip

_MARK = "<<odd>>"


def changed_text(content: bytes, chance: Random) -> bytes:
    """Change a line: it is repeated, removed, replaced, or gets a piece or a number that parsers dislike."""
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
    """Replace, remove, rename or double a value somewhere in JSON."""
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
    """Change the JSON of a line."""
    lines = content.splitlines(keepends=True) or [b""]
    place = chance.randrange(len(lines))
    lines[place] = changed_json(lines[place], chance).strip() + b"\n"
    return b"".join(lines)


def _places(found: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or object with each of its keys."""
    pending: list[Any] = [{"": found}]
    while pending:
        holder = pending.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list) and holder[key]:
                pending.append(holder[key])
