"""The optional file `metadata` of a submission: YAML with name, team, description, keras and paper."""

import reprlib
from dataclasses import dataclass
from datetime import date

import yaml

from harness.submission.sources import SubmissionError

FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")
MAX_BYTES = 64 * 1024


@dataclass(frozen=True)
class Metadata:
    """What a submission says of itself; other keys of the file, such as the competition's own, are ignored."""

    name: str = ""
    team: str = ""
    description: str = ""
    paper: str = ""
    keras: int | None = None  #: 2 or 3; None leaves the choice to the command line


def read_metadata(files: dict[str, bytes]) -> Metadata:
    """Return the metadata among a submission's files; raises `SubmissionError` if they are malformed."""
    name = next((name for name in FILE_NAMES if name in files), None)
    if name is None:
        return Metadata()
    if len(files[name]) > MAX_BYTES:
        raise SubmissionError(f"{name}: expected at most {MAX_BYTES} bytes, found {len(files[name])}")
    try:
        content = yaml.safe_load(files[name])
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SubmissionError(f"{name}: expected YAML: {' '.join(str(error).split())[:200]}") from error
    if content is None:
        return Metadata()
    if not isinstance(content, dict):
        raise SubmissionError(f"{name}: expected `key: value` lines, found {type(content).__name__}")
    keras = content.get("keras")
    if keras is not None and (type(keras) is not int or keras not in (2, 3)):
        raise SubmissionError(f"{name}: keras: expected 2 or 3, found {reprlib.repr(keras)}")
    texts = {key: _text(name, key, content.get(key)) for key in ("name", "team", "description", "paper")}
    return Metadata(keras=keras, **texts)


def _text(file: str, key: str, value: object) -> str:
    """A plain scalar as text; a few bytes of nested YAML aliases can stand for gigabytes."""
    if value is None:
        return ""
    if isinstance(value, str | date) or (isinstance(value, int | float) and abs(value) < 1e18):
        return str(value)
    raise SubmissionError(f"{file}: {key}: expected text, found {type(value).__name__}")
