"""Counts the outcomes of a run's calls."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from harness.api.needs import failed_for_initial_weights, lacks_initial_weights
from harness.execution.run import CallSummary
from harness.outcome import Outcome
from harness.summarized import Summarized


class Tally(Summarized):
    """Counts of the outcomes of a run's calls. To save memory, it keeps only the time of each call, not the call."""

    def __init__(self) -> None:
        #: (submission, task, whether the calls are repetitions) -> outcome -> number of calls
        self.outcomes: defaultdict[tuple[str, str, bool], Counter[str]] = defaultdict(Counter)
        self.seconds: defaultdict[tuple[str, str, bool], array[float]] = defaultdict(lambda: array("d"))
        #: (submission, task) -> number of calls that exceeded their time with less than half of a processor
        self.starved: Counter[tuple[str, str]] = Counter()
        self.lacking_initial_weights: set[str] = set()  #: tasks on which a call failed for lack of these weights

    def add(self, row: CallSummary) -> None:
        """Count a recorded call."""
        place = row.call.submission.name, row.call.task.name, bool(row.call.repeat)
        self.outcomes[place][row.outcome] += 1
        self.seconds[place].append(row.call_wall_s)
        self.starved[place[:2]] += row.is_starved and row.call_wall_s > 0
        if lacks_initial_weights(row.call) or (  # recorded calls have no message
            not row.call.model.has_initial_weights and failed_for_initial_weights(row.outcome, row.message)
        ):
            self.lacking_initial_weights.add(row.call.task.name)

    @property
    def summary(self) -> list[str]:
        """The outcomes of each submission on each task."""
        return [
            f"{submission} on {task}{', repeated' * repeated}: {describe_outcomes(counts)}"
            for (submission, task, repeated), counts in sorted(self.outcomes.items())
        ]

    @property
    def total(self) -> int:
        """Number of calls."""
        return sum(counts.total() for counts in self.outcomes.values())

    def starved_note(self, withheld: Collection[str]) -> str | None:
        """Return a line on timeouts for lack of processor time on tasks not in `withheld`; None if there are none."""
        shown = {place: number for place, number in self.starved.items() if number and place[1] not in withheld}
        if not shown:
            return None
        names = ", ".join(f"{number} of {submission} on {task}" for (submission, task), number in sorted(shown.items()))
        return (
            f"calls that exceeded their time with less than half of a processor: {names}. The machine was busy, or the "
            "calls waited; if the machine was busy, --retry-timeouts (pgdl run, pgdl compare) makes them again"
        )

    @property
    def all_ok(self) -> bool:
        """Whether every call returned a finite number."""
        return all(counts.total() == counts[Outcome.OK] for counts in self.outcomes.values())


def describe_outcomes(counts: Mapping[str, int]) -> str:
    """Return a text such as `7 OK, 2 TIMEOUT`; `counts` is outcome -> number of calls."""
    return ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
