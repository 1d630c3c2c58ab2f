"""Reads TOML files that users write. All problems of a file are reported together, a line each."""

from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from harness.errors import UserError, UserErrors
from harness.hints import did_you_mean
from harness.parsing import parse_toml
from harness.reading import read_text
from harness.text import printable
from harness.validation import in_words

#: Maximum size in bytes of a TOML file.
MAX_BYTES = 1024**2


class Section(BaseModel):
    """A section of a TOML file. Unknown keys, and values of a wrong type, are problems."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Found = TypeVar("Found", bound=Section)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return content and text of a TOML file; raises `UserError` if the file is no TOML."""
    text = read_text(path, MAX_BYTES)
    try:
        return parse_toml(text), text
    except ValueError as error:
        raise UserError("not TOML", file=path, found=printable(str(error))[:200]) from error


def checked(model: type[Found], content: dict[str, Any], where: str, path: Path) -> Found:
    """Convert `content`, the section `where` of a file, to a `model`. Raise `UserError` with all problems."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = [_problem(model, problem, where, path) for problem in error.errors()]
        raise UserErrors(*lines) from error


def require(condition: bool, key: str, expected: str) -> None:
    """For validators of a section: raise `ValueError` with `key` and `expected` unless `condition` is true."""
    if not condition:
        raise ValueError(f"{key}: expected {expected}")


def _problem(model: type[BaseModel], problem: ErrorDetails, where: str, path: Path) -> UserError:
    found = in_words(problem)
    key = f"{where}.{found.key}".strip(".")
    if problem["type"] == "extra_forbidden":
        known = _fields(model, problem["loc"])
        return UserError(f"{key}: unknown key", file=path, remedy=did_you_mean(key.split(".")[-1], known))
    if problem["type"] == "value_error":  # its message names the key
        return UserError(str(problem["ctx"]["error"]), file=path)
    return UserError(key, file=path, expected=found.expected, found=found.found)


def _fields(model: Any, location: tuple[Any, ...]) -> set[str]:
    for part in location[:-1]:
        if isinstance(part, int):  # an element of a list of sections
            (model,) = get_args(model) or (None,)
        else:
            model = getattr(getattr(model, "model_fields", {}).get(part), "annotation", None)
    return set(getattr(model, "model_fields", ()))
