"""The optional file `metadata` of a submission: lines `key: value`, in a subset of YAML.

Every value is literal text, without numbers, dates, tags, anchors or merges. Only the keys `name`, `runtime`, `keras`
and `deterministic` have an effect, so a malformed line is refused only if it has one of these keys. All else is
accepted, such as prose, or the metadata of the competition of 2020.
"""

import io
import re
import reprlib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from harness.inspector.answer import MAX_KEY, MAX_KEYS
from harness.inspector.files import SubmissionError
from harness.inspector.keys import CHOICES, FILE_NAMES, KEYS

#: Maximum size of the file in bytes.
MAX_BYTES = 64 * 1024

#: Maximum depth of nested lists and mappings. Values of known keys have none.
MAX_DEPTH = 20

#: Keys that affect the name of a submission, or how it is run.
DECIDING = ("name", *CHOICES)

#: A line with a key of `DECIDING`, in a file that is not valid YAML.
_DECIDES = re.compile(
    rb"""^(?:\xef\xbb\xbf)?[ \t{,-]*["']?(?:name|runtime|keras|deterministic)["']?[ \t]*:""", re.MULTILINE
)


class _MalformedError(Exception):
    """The file contains text other than lines `key: value`."""


def read_metadata(files: Mapping[str, bytes]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return key -> value of the known keys (`KEYS`), and up to `MAX_KEYS` other keys; ({}, ()) for a malformed file.

    Raise `SubmissionError` if a line of a malformed file has a key that affects the submission (`DECIDING`).
    """
    file = next((name for name in FILE_NAMES if name in files), None)
    if file is None:
        return {}, ()
    try:
        return _known_keys(file, files[file])
    except _MalformedError as error:
        if _DECIDES.search(files[file]):
            raise SubmissionError(f"{file}: {error}") from error
        return {}, ()


def _known_keys(file: str, content: bytes) -> tuple[dict[str, str], tuple[str, ...]]:
    if len(content) > MAX_BYTES:
        raise _MalformedError(f"expected at most {MAX_BYTES} bytes, found {len(content)}")
    found: dict[str, str] = {}
    unknown: list[str] = []
    try:
        text = io.StringIO(content.decode("utf-8-sig"))  # of a stream, PyYAML's errors quote no lines
        for key, value in _pairs(yaml.parse(text, yaml.SafeLoader)):
            name = key.value if isinstance(key, yaml.ScalarEvent) else None
            if name == "<<":
                raise SubmissionError(f"{file}: expected `key: value` lines, found a merge")
            if name in DECIDING and not (_is_plain(key) and _is_plain(value) and name not in found):
                seen = "it twice" if name in found else _describe(value if _is_plain(key) else key)
                raise SubmissionError(f"{file}: {name}: expected plain text, found {seen}")
            if name in KEYS:
                if _is_plain(value):
                    found[name] = value.value
            elif name is not None and len(name) <= MAX_KEY and len(unknown) < MAX_KEYS:
                unknown.append(name)
    except UnicodeDecodeError as error:
        raise _MalformedError(f"expected UTF-8, found {error.object[error.start : error.end]!r}") from error
    except yaml.YAMLError as error:
        problem = " ".join(str(error).replace('"<file>", ', "").split())
        raise _MalformedError(f"expected YAML: {problem[:200]}") from error
    for key, choices in CHOICES.items():
        if (value := found.get(key, "")) and value not in choices:
            raise SubmissionError(f"{file}: {key}: expected {' or '.join(choices)}, found {reprlib.repr(value)}")
    if found.get("keras") == "2" and found.get("runtime", "") not in ("", "tensorflow", "keras2"):
        raise SubmissionError(f"{file}: keras: expected 3 with runtime {found['runtime']}, found 2")
    if found.get("keras") == "3" and found.get("runtime") == "keras2":
        raise SubmissionError(f"{file}: keras: expected 2 with runtime keras2, found 3")
    return found, tuple(unknown)


def _pairs(events: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the first YAML event of each key and of its value. Yield nothing for an empty file."""
    next(events)  # the start of the stream
    if isinstance(next(events), yaml.StreamEndEvent):
        return
    start = next(events)
    if not isinstance(start, yaml.MappingStartEvent):
        raise _MalformedError(f"expected `key: value` lines, found {_describe(start)}")
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        _skip_rest(key, events)
        value = next(events)
        _skip_rest(value, events)
        yield key, value
    next(events)  # the end of the document
    if not isinstance(next(events), yaml.StreamEndEvent):
        raise _MalformedError("expected `key: value` lines, found a second document")


def _skip_rest(first: Any, events: Iterator[Any]) -> None:
    """If the event `first` starts a list or mapping, skip to its end."""
    depth = int(isinstance(first, yaml.CollectionStartEvent))
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _MalformedError(f"expected at most {MAX_DEPTH} brackets within brackets, found more")


def _is_plain(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.tag is None and event.anchor is None


def _describe(event: Any) -> str:
    if isinstance(event, yaml.AliasEvent):
        return f"the alias *{event.anchor}"
    if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
        return f"the anchor &{event.anchor}"
    if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
        return f"the tag {reprlib.repr(event.tag)}"
    if isinstance(event, yaml.ScalarEvent):
        return "a text"
    return "a mapping" if isinstance(event, yaml.MappingStartEvent) else "a list"
