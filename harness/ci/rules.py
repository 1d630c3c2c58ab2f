"""The rules that a maintainer sets for changes, and the lines on broken rules in a report."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.ci.report import Line

if TYPE_CHECKING:
    from harness.ci.change import Change

#: Default of the number of submissions that a change may touch: a submission takes hours of a machine.
AT_MOST = 10


@dataclass(frozen=True)
class Rules:
    """The rules that a change must keep. A submission that cannot be evaluated always breaks a rule."""

    require_check: bool = False  #: `pgdl check` passes, and every call returns a number
    min_score: float | None = None  #: least score of a touched submission; None: no such rule
    at_most: int = AT_MOST  #: maximum number of touched submissions
    only_submissions: bool = False  #: no other file is touched

    def stop(self, change: "Change") -> bool:
        """Return whether a change touches too many submissions, so that no submission is evaluated."""
        return change.base is not None and len(change.touched) > self.at_most

    def broken_by_change(self, change: "Change") -> list[str]:
        """Return a line for each broken rule on the whole change: `at_most` and `only_submissions`."""
        broken = []
        if self.stop(change):
            touched = len(change.touched)
            broken.append(f"the change touches {touched} submissions, more than {self.at_most}: none was evaluated")
        if self.only_submissions and change.others:
            broken.append("the change touches files that belong to no submission")
        return broken

    def broken_by(self, line: Line) -> list[str]:
        """Return a line for each rule that a submission breaks. `line` is the report's line on the submission."""
        if line.change == "refused":
            return [f"{line.name}: {line.problem}"]
        if line.change == "removed" or not line.calls_expected:
            return []
        failed, broken = line.calls_expected - line.calls_ok, []
        if line.machine_failed:
            broken.append(f"{line.name}: the machine failed on {line.machine_failed} models; run the job again")
        if self.require_check and failed:
            broken.append(f"{line.name}: {failed} of {line.calls_expected} calls have no value")
        if self.min_score is not None and (line.score is None or line.score < self.min_score):
            found = "no score" if line.score is None else f"score {line.score:.4g}"
            broken.append(f"{line.name}: {found}, expected at least {self.min_score:g}")
        return broken
