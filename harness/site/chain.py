"""Records in a chain: each line has a digest that covers it and every line before it."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.errors import UserError

Record = dict[str, Any]


def to_lines(records: Iterable[Record], start: str) -> Iterator[str]:
    """Yield a line of JSON per record, `{"digest": ..., "record": {...}}`.

    The digest is the SHA-256 (hex) of the digest before it and the record's JSON; the first one follows `start`.
    """
    digest = start
    for record in records:
        text = _canonical(record)
        digest = _next(digest, text)
        yield f'{{"digest": "{digest}", "record": {text}}}\n'


def head_of(lines: Sequence[str], start: str) -> str:
    """Return the last digest of a chain: it covers all of it."""
    return str(json.loads(lines[-1])["digest"]) if lines else start


def read_lines(file: Path, start: str) -> Iterator[Record]:
    """Yield the records of a chain; raises `UserError` at the first line whose digest is not that of its content."""
    digest = start
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            record, found = _parse(file, number, line)
            digest = _next(digest, _canonical(record))
            if found != digest:
                where = ", ".join(str(record.get(name)) for name in ("submission", "task", "model"))
                expected = f"a digest {digest[:12]}... of the line and those before it"
                raise UserError(f"line {number} ({where})", file=file, expected=expected, found=f"{found[:12]}...")
            yield record


def _parse(file: Path, number: int, line: str) -> tuple[Record, str]:
    try:
        content = json.loads(line)
        record, digest = content["record"], content["digest"]
    except (ValueError, LookupError, TypeError, RecursionError):
        record = digest = None
    if not isinstance(record, dict) or not isinstance(digest, str):
        raise UserError(f"line {number}", file=file, expected="a record and its digest", found=line[:40].strip())
    return record, digest


def _canonical(record: Record) -> str:
    return json.dumps(record, sort_keys=True)


def _next(digest: str, text: str) -> str:
    return hashlib.sha256(f"{digest}\n{text}".encode()).hexdigest()
