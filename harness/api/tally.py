"""Outcomes of a run's calls, counted."""

from array import array
from collections import Counter, defaultdict

from harness.execution.run import Recorded
from harness.outcome import Outcome


class Tally:
    """Counts the outcomes of a run's calls. Per call it stores only the time: a run may be very long."""

    def __init__(self) -> None:
        #: by submission, task, and whether the calls are repetitions
        self.outcomes: defaultdict[tuple[str, str, bool], Counter[str]] = defaultdict(Counter)
        self.seconds: defaultdict[tuple[str, str, bool], array[float]] = defaultdict(lambda: array("d"))

    def add(self, row: Recorded) -> None:
        """Count a recorded call."""
        place = row.planned.submission.name, row.planned.task.name, bool(row.planned.repeat)
        self.outcomes[place][row.outcome] += 1
        self.seconds[place].append(row.call_wall_s)

    @property
    def total(self) -> int:
        """Number of calls."""
        return sum(counts.total() for counts in self.outcomes.values())

    @property
    def all_ok(self) -> bool:
        """Whether every call returned a finite number."""
        return all(counts.total() == counts[Outcome.OK] for counts in self.outcomes.values())
