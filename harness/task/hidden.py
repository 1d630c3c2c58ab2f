"""The option --withhold: decides which tasks are withheld, and hides messages about problems of these tasks.

`harness.board.disclosure` withholds numbers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.errors import Choice, UserError, UserErrors
from harness.task.layout import TaskFiles

REMEDY = "--withhold never shows them, for the organiser's eyes only"


class Withhold(Choice):
    """The option --withhold: for which tasks pgdl withholds outputs, messages and figures, and rounds scores."""

    AUTO = "auto"  #: tasks marked as hidden
    ALWAYS = "always"  #: all tasks
    NEVER = "never"  #: no task: for the organiser's eyes only

    def covers(self, hidden: bool) -> bool:
        """Whether texts and figures of a task are withheld; `hidden` says whether the task is marked as hidden."""
        return self is Withhold.ALWAYS or (self is Withhold.AUTO and hidden)

    def problems(self, files: TaskFiles, problems: Sequence[str]) -> list[str]:
        """Return the lines in `problems`; if the task is withheld, return only a line with the number of problems."""
        try:
            covered = self.covers(files.hidden)
        except UserError as error:
            return list(problems) if self is Withhold.NEVER else [str(error)]
        if not covered or not problems:
            return list(problems)
        return [f"{files.name}: problems are withheld ({len(problems)}); {REMEDY}"]

    @contextmanager
    def reading(self, files: TaskFiles) -> Iterator[None]:
        """If the context raises a `UserError` about a withheld task, hide the message, as `problems` does."""
        try:
            yield
        except UserError as error:
            (first, *_) = said = self.problems(files, getattr(error, "problems", (str(error),)))
            if first in str(error):
                raise
            raise UserErrors(*said) from None
