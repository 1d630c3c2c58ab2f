"""The submissions that a change touches, while they are evaluated."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.ci.annotations import annotation
from harness.ci.change import Change, path_in_repository
from harness.ci.git import Repository
from harness.ci.reading import RefusedError, read_submission
from harness.submission import Submission, find_flaw


@dataclass
class Touched:
    """The submissions to evaluate, and those that cannot be.

    Attributes:
        submissions: name -> submission.
        problems: name -> the reason why it is not evaluated in full.
        annotations: of files, for GitHub.
    """

    submissions: dict[str, Submission] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    annotations: list[str] = field(default_factory=list)

    def refuse(self, name: str, problem: str, annotations: Sequence[str]) -> None:
        """Leave out a submission."""
        self.submissions.pop(name, None)
        self.problems[name] = problem
        self.annotations += annotations


def read_touched(repository: Repository, folder: str, change: Change) -> Touched:
    """Read the submissions that a change touches."""
    touched = Touched()
    for path, reason in change.refused.items():
        touched.annotations.append(annotation("error", reason, f"{folder}/{path}"))
    for name in change.touched:
        entry = change.after[name]
        path = path_in_repository(folder, entry)
        try:
            submission = read_submission(repository, folder, entry)
            if flaw := find_flaw(submission.files["complexity.py"]):
                raise RefusedError(flaw)
        except RefusedError as error:
            touched.refuse(name, str(error), [annotation("error", str(error), path)])
        else:
            touched.submissions[name] = submission
            touched.annotations += [annotation("notice", line, path) for line in submission.notes]
    return touched
