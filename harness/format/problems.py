"""Collects the problems in a task's files, so that all of them are reported together."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from harness.errors import UserError, UserErrors

#: Maximum number of problems in the message of an exception. `pgdl task validate` shows all problems.
SHOWN = 3

P = ParamSpec("P")
T = TypeVar("T")


class InvalidTaskError(UserErrors):
    """Raised for a task with at least one problem. `problems` has a line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(dict.fromkeys(problems))  # each once, in order
        more = len(self.problems) - SHOWN
        hint = [f"and {more} more problems; `pgdl task validate` lists them all"] if more > 0 else []
        super().__init__(*self.problems[:SHOWN], *hint)


class Problems:
    """Collects problems of files; `lines` has a line for each problem."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def attempt(self, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Call `read` and return its result. If it raises an error about a file, collect the error and return None."""
        try:
            return read(*args, **kwargs)
        except InvalidTaskError as error:
            self.lines.extend(error.problems)
        except UserError as error:
            self.lines.append(str(error))
        except OSError as error:
            if error.filename is None:  # the error is not about a file
                raise
            self.lines.append(str(UserError("cannot be read", file=error.filename, found=error.strerror)))
        return None

    def raise_if_any(self) -> None:
        """Raise `InvalidTaskError` with all collected problems."""
        if self.lines:
            raise InvalidTaskError(self.lines)
