"""The line of its own code that a measure had reached when its time was up."""

import re

#: Beginning of the stack that a worker prints shortly before the deadline (`faulthandler`).
SAMPLE = "Stack (most recent call first):"

#: Longest name of a file in a message.
NAME = 100

#: A frame of the worker's own code, and of the program that has started it.
_WORKER = re.compile(r'^  File "(?:[^"\n]*/harness/worker/[^"\n]*|<string>)", line \d+ in .*\n', re.MULTILINE)


def without_worker(output: str) -> str:
    """Return a worker's output without the frames of its own code in the sample, which do not concern the measure."""
    before, begun, sample = output.rpartition(SAMPLE)
    return before + begun + _WORKER.sub("", sample) if begun else output


def place_in(output: str, directory: str) -> str:
    """Return file and line of the submission's own code in a worker's output, as in `complexity.py:4`.

    `directory` has the submission in the worker. Empty if the output shows no such line. Like all output, the line is
    the submission's own claim.
    """
    _, begun, sample = output.rpartition(SAMPLE)
    own = re.compile(rf'File "{re.escape(directory)}/([^"\n]{{1,{NAME}}})", line (\d{{1,9}}) in ')
    frame = own.search(sample) if begun else None  # the innermost
    return f"{frame[1]}:{frame[2]}" if frame else ""
