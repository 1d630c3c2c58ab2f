"""What keeps a submission from being read."""


class SubmissionError(Exception):
    """The submission cannot be run; the message says what was expected and what was found."""


class UnreadableError(Exception):
    """The system refuses to read a file, which whoever runs the harness can mend.

    `file` is its name in the submission; empty for the folder, zip or single file that was handed in.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file, self.reason = file, reason
