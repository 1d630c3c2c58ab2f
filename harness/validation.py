"""Describes problems that pydantic finds, in the words of `UserError`: expected EXPECTED, found FOUND."""

from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harness.text import printable

#: Pydantic's type of a problem -> our words for what is expected.
EXPECTED = {
    "missing": "a value",
    "extra_forbidden": "no such key",
    "tuple_type": "list",
    "dict_type": "a section",
    "model_type": "a section",
}

#: Maximum number of characters of a value that is quoted.
LONGEST = 80


class Problem(NamedTuple):
    """A problem that pydantic found, in words."""

    key: str  #: keys joined by dots; empty if the problem is about the whole content
    expected: str
    found: str


def first_problem(error: ValidationError) -> Problem:
    """Return the first problem that pydantic found, in words."""
    return in_words(error.errors()[0])


def in_words(problem: ErrorDetails) -> Problem:
    """Return a problem of pydantic in words. A URL is not quoted, because it may contain a password or a key."""
    found = "none" if problem["type"] == "missing" else repr(problem["input"])
    found = "an address" if "://" in found else found[:LONGEST]
    return Problem(printable(".".join(map(str, problem["loc"]))), _expected(problem), found)


def _expected(problem: ErrorDetails) -> str:
    kind, words = problem["type"], problem["msg"].removeprefix("Value error, ")
    if kind == "string_pattern_mismatch":
        return f"text of the pattern {problem['ctx']['pattern']}"
    if kind in EXPECTED:
        return EXPECTED[kind]
    subject, should, wanted = words.partition(" should ")  # Input should be a valid ..., List should have at least ...
    if not should or " " in subject:
        return words[:1].lower() + words[1:]
    wanted = wanted.removeprefix("be ").removeprefix("have ").removeprefix("a valid ")
    return wanted if kind == "literal_error" else wanted.partition(", ")[0].removesuffix(" after validation")
