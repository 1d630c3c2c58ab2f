"""Finds a reason in the source of a submission why its call may never end."""

import re

from harness.submission import Submission

#: A dataset of TensorFlow that never ends: `repeat` without a number.
_REPEATED = re.compile(r"\.repeat\(\s*(?:(?:count\s*=\s*)?(?:None|-\s*1)\s*)?\)")


def endless_repeat(submission: Submission) -> str | None:
    """Return a sentence on the first line of a submission that repeats data for ever; None without such a line."""
    for name, content in sorted(submission.files.items()):
        if name.endswith(".py") and (found := _REPEATED.search(text := content.decode(errors="replace"))):
            line = 1 + text.count("\n", 0, found.start())
            return f"{name}:{line}: repeat() without a number never ends; give it a number, or take() a part of it."
    return None
