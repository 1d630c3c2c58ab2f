"""Errors in reading a submission."""


class SubmissionError(Exception):
    """The submission cannot be run; the message states what was expected and what was found."""


class UnreadableError(Exception):
    """The system refuses to read a file, which the user of the harness can fix.

    `file` is its name in the submission; empty for the submitted folder, zip or single file itself.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = file, reason
