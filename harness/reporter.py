"""The interface by which long work reports notes and steps to whoever shows them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext


class Reporter:
    """Receives notes and steps, in the caller's thread. This class ignores them; a subclass shows them."""

    def note(self, line: str) -> None:
        """Receive a note, for instance that a task has no official score."""

    def warn(self, line: str) -> None:
        """Receive a warning, for instance that a call ran on the processor although there is a GPU."""

    def step(self, line: str) -> None:
        """Receive the start of a step that may take a while, such as reading tasks. The next event ends the step."""

    def steps(self, name: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Return a context for work in `total` parts; `with ... as step` gives the function to call after each part."""
        return nullcontext(lambda: None)
