"""The file with a site's records, which form a chain: each line has a digest of its record and of all lines before."""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import IO, Any

from harness.errors import UserError
from harness.format.files import leaves, require_whole_text
from harness.parsing import parse_json
from harness.text import printable

#: Maximum number of bytes of a record. The output of a call has up to 16,000 characters, of up to 12 bytes in JSON.
MAX_LINE = 1024**2

#: Maximum number of bytes of all records, which are about three million records of a usual size.
MAX_RECORDS = 2 * 1024**3

Record = dict[str, Any]


def to_chain(records: Iterable[Record], start: str) -> tuple[bytes, str]:
    """Return the content of the file, and the last digest, which covers all records.

    A line is `{"digest": ..., "record": {...}}`. Its digest is the SHA-256 (hex) of the previous line's digest (`start`
    for the first line) and the record's JSON.
    """
    lines, digest = [], start
    for record in records:
        text = json.dumps(record, sort_keys=True)
        digest = _next(digest, text)
        lines.append(f'{{"digest": "{digest}", "record": {text}}}\n')
    return "".join(lines).encode(), digest


def read_chain(stream: IO[bytes], file: Path, start: str, most: int) -> Iterator[Record]:
    """Yield the records in `stream`. `file` is its path for messages; `start` is as for `to_chain`.

    Raise `UserError` for a line that is too long or malformed, a wrong digest, or more than `most` records.
    """
    digest, size = start, 0
    for number in count(1):
        line = stream.readline(MAX_LINE + 1)
        size += len(line)
        if not line:
            return
        if number > most or size > MAX_RECORDS:
            expected = f"at most {most} records and {MAX_RECORDS} bytes"
            raise UserError("too many records", file=file, expected=expected, found="more")
        record, text, found = _parse(file, number, line)
        digest = _next(digest, text)
        if found != digest:
            where = ", ".join(printable(str(record.get(name)))[:80] for name in ("submission", "task", "model"))
            covered = "the line and those before it" if number > 1 else "this line, site.json and reference_data"
            expected = f"a digest {digest[:12]}... of {covered}"
            found = f"{printable(found[:12])}..."
            raise UserError(f"line {number} ({where})", file=file, expected=expected, found=found)
        require_plain(record, file)
        yield record


def _parse(file: Path, number: int, line: bytes) -> tuple[Record, str, str]:
    if len(line) > MAX_LINE:
        raise UserError(f"line {number}", file=file, expected=f"at most {MAX_LINE} bytes", found="more")
    try:
        content = parse_json(line.decode())
        record, digest = content["record"], content["digest"]
        text = json.dumps(record, sort_keys=True)
    except (ValueError, LookupError, TypeError, RecursionError):
        record, digest, text = None, None, ""
    if not isinstance(record, dict) or not isinstance(digest, str):
        found = printable(line[:40].decode(errors="replace").strip())
        raise UserError(f"line {number}", file=file, expected="a record and its digest", found=found)
    return record, text, digest


def _next(digest: str, text: str) -> str:
    return hashlib.sha256(f"{digest}\n{text}".encode()).hexdigest()


def require_plain(content: Any, file: Path) -> None:
    """Raise `UserError` if parsed JSON has a number that is no finite float, or text that UTF-8 cannot encode.

    Python's parser accepts `NaN`, `1e999`, integers of thousands of digits, and halves of surrogate pairs.
    """
    for value in leaves(content):
        require_whole_text(value, file)
        if isinstance(value, int | float) and not abs(value) <= sys.float_info.max:  # also refuses NaN
            raise UserError("a number", file=file, expected="a finite number, at most 1.8e308", found="another one")
