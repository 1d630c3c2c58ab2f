"""The rules that a maintainer sets for changes of a repository, and a report's lines on broken rules."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.ci.report import Line

if TYPE_CHECKING:
    from harness.ci.change import Change

AT_MOST = 10  #: default of `Rules.at_most`, since a submission may take hours of a machine


@dataclass(frozen=True)
class Rules:
    """The rules that a change must keep. A refused submission counts as a broken rule, whatever the rules are."""

    require_check: bool = False  #: a touched submission must pass `pgdl check`, and every call must return a number
    min_score: float | None = None  #: minimum score of a touched submission; None: no such rule
    at_most: int = AT_MOST  #: maximum number of touched submissions
    only_submissions: bool = False  #: the change must not touch any other file
    only_new: bool = False  #: the change must not change, rename or remove a submission of the base

    def are_exceeded_by(self, change: "Change") -> bool:
        """Return whether a change has a base, and touches more than `at_most` submissions: then none is evaluated."""
        return change.base is not None and len(change.touched) > self.at_most

    def broken_by_change(self, change: "Change") -> list[str]:
        """Return a line for each of the rules `at_most`, `only_submissions` and `only_new` that a change breaks."""
        broken = []
        if self.are_exceeded_by(change):
            touched = len(change.touched)
            broken.append(f"the change touches {touched} submissions, more than {self.at_most}: none was evaluated")
        if self.only_submissions and change.others:
            broken.append("the change touches files that belong to no submission")
        if self.only_new and change.overwritten:
            broken.append(f"the change overwrites submissions of the base: {', '.join(change.overwritten)}")
        return broken

    def broken_by(self, line: Line) -> list[str]:
        """Return a line for each rule that a submission breaks; `line` is the submission's line in the report."""
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
