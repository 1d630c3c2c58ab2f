"""The answer of the process that reads a submission: `ready`, then a line of JSON, then the bytes of the files.

The line has names and sizes of the files, and their contents follow in the same order. This module writes and parses
answers. The parser trusts nothing, because the process has read a participant's files.
"""

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from harness.inspector.files import SubmissionError, check_names
from harness.inspector.keys import CHOICES, KEYS
from harness.inspector.limits import MAX_BYTES, MAX_FILES, MAX_NAME

READY = b"ready\n"

#: Maximum length of the line of JSON in bytes. A character of a name or text may take six bytes.
MAX_LINE = 2 * 1024**2

#: Maximum length of an answer in bytes.
MAX_ANSWER = len(READY) + MAX_LINE + MAX_BYTES

#: Maximum length of an error message in characters.
MAX_PROBLEM = 500

#: Maximum number of unknown keys of metadata that are reported, and maximum length of such a key in characters.
MAX_KEYS = 20
MAX_KEY = 40


class Answer(NamedTuple):
    """The content of a submission, or the reason why it cannot be used."""

    files: Mapping[str, bytes]  #: name -> content
    metadata: Mapping[str, str]  #: known key -> value
    problem: str | None = None  #: why the submission cannot be run
    unreadable: tuple[str, str] | None = None  #: file that the system refuses to read, and why
    unknown_keys: tuple[str, ...] = ()  #: some unknown keys of the metadata
    folder: str = ""  #: name of the folder that contains all files; empty if there is none


class AnswerError(Exception):
    """The bytes are not a valid answer."""


def write_answer(answer: Answer, stream: BinaryIO) -> None:
    """Write an answer: a line of JSON, then the contents of the files. The caller writes `READY` first."""
    files = [[name, len(content)] for name, content in answer.files.items()]
    line = answer._asdict() | {"files": files, "metadata": dict(answer.metadata)}
    stream.write(json.dumps(line).encode() + b"\n")
    for content in answer.files.values():
        stream.write(content)


def parse_answer(content: bytes) -> Answer:
    """Parse and check a whole answer, from `READY` on. Raise `AnswerError` if it is malformed."""
    if not content.startswith(READY):
        raise AnswerError("it ended before it was ready")
    end = content.find(b"\n", len(READY), len(READY) + MAX_LINE)
    if end < 0:
        raise AnswerError("it ended without an answer")
    try:
        line = json.loads(content[len(READY) : end])
        files = _take_files(line["files"], memoryview(content)[end + 1 :])
        unreadable = line["unreadable"]
        return Answer(
            files,
            _checked_metadata(line["metadata"]),
            None if line["problem"] is None else _text(line["problem"], MAX_PROBLEM),
            None if unreadable is None else (_text(unreadable[0]), _text(unreadable[1])),
            tuple(_text(key, MAX_KEY) for key in line["unknown_keys"][:MAX_KEYS]),
            _checked_folder(line["folder"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, SubmissionError) as error:
        raise AnswerError(f"its answer is malformed: {error}") from error


def _take_files(listed: Any, content: memoryview) -> dict[str, bytes]:
    names, sizes = [_text(name) for name, _ in listed], [size for _, size in listed]
    check_names(names)
    if len(set(names)) != len(names) or len(names) > MAX_FILES:
        raise ValueError(f"{len(names)} files, {len(set(names))} names")
    if any(type(size) is not int or size < 0 for size in sizes) or sum(sizes) != len(content):
        raise ValueError(f"{len(content)} bytes of files")
    files, start = {}, 0
    for name, size in zip(names, sizes, strict=True):
        files[name] = bytes(content[start : start + size])
        start += size
    return files


def _checked_metadata(found: Any) -> dict[str, str]:
    metadata = {key: _text(value) for key, value in found.items()}
    chosen = all(metadata.get(key, "") in ("", *choices) for key, choices in CHOICES.items())
    if not metadata.keys() <= set(KEYS) or not chosen:
        raise ValueError(f"the keys {', '.join(metadata)}")
    return metadata


def _checked_folder(value: Any) -> str:
    if folder := _text(value, MAX_NAME):
        check_names([folder])
    return folder


def _text(value: Any, longest: int = MAX_LINE) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise TypeError(f"expected text, found {type(value).__name__}")
    return value
