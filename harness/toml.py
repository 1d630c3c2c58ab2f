"""Reads TOML files that users write, and reports all problems of an invalid file, each in one line."""

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
    """A section of a TOML file; unknown keys, and values of other types, are problems."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Found = TypeVar("Found", bound=Section)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the content of a TOML file, and its text; raises `UserError` if the file is no TOML."""
    text = read_text(path, MAX_BYTES)
    try:
        return parse_toml(text), text
    except ValueError as error:
        raise UserError("not TOML", file=path, found=printable(str(error))[:200]) from error


def checked(model: type[Found], content: dict[str, Any], where: str, path: Path) -> Found:
    """Convert `content`, the section `where` of the file `path`, to a `model`. Raise `UserError` with all problems."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = [_problem(model, problem, where, path) for problem in error.errors()]
        raise UserErrors(*lines) from error


def require(condition: bool, key: str, expected: str) -> None:
    """In a validator of a section, raise `ValueError` with `key` and `expected` unless `condition` holds."""
    if not condition:
        raise ValueError(f"{key}: expected {expected}")


def _problem(model: type[BaseModel], problem: ErrorDetails, where: str, path: Path) -> UserError:
    found = in_words(problem)
    key = f"{where}.{found.key}".strip(".")
    if problem["type"] == "extra_forbidden":
        known = _fields(model, problem["loc"])
        return UserError(f"{key}: unknown key", file=path, remedy=did_you_mean(key.split(".")[-1], known))
    if problem["type"] == "value_error":  # the message of `require` names the key
        return UserError(str(problem["ctx"]["error"]), file=path)
    return UserError(key, file=path, expected=found.expected, found=found.found)


def _fields(model: Any, location: tuple[Any, ...]) -> set[str]:
    for part in location[:-1]:
        if isinstance(part, int):  # an element of a list of sections
            (model,) = get_args(model) or (None,)
        else:
            model = getattr(getattr(model, "model_fields", {}).get(part), "annotation", None)
    return set(getattr(model, "model_fields", ()))
