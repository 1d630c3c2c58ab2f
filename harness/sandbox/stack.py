"""Finds the line that a measure was executing shortly before its deadline, in the stack that the worker printed."""

import re

#: Beginning of the stack that a worker prints shortly before the deadline (`faulthandler`).
SAMPLE = "Stack (most recent call first):"

#: Longest name of a file in a message.
NAME = 100

#: A stack frame of the worker's own code, or of the program that started the worker.
#: A submission can print a long line that almost matches: the lookahead keeps the search linear.
_WORKER = re.compile(r'^  File "(?:(?=[^"\n]*/harness/worker/)[^"\n]*|<string>)", line \d+ in .*\n', re.MULTILINE)


def without_worker(output: str) -> str:
    """Return a worker's output without the worker's own frames in the stack."""
    before, begun, sample = output.rpartition(SAMPLE)
    return before + begun + _WORKER.sub("", sample) if begun else output


def place_in(output: str, directory: str) -> str:
    """Return the innermost frame of code in `directory`, such as `complexity.py:4`; "" if the stack has none."""
    _, begun, sample = output.rpartition(SAMPLE)  # not trusted: a submission can print a wrong stack
    own = re.compile(rf'File "{re.escape(directory)}/([^"\n]{{1,{NAME}}})", line (\d{{1,9}}) in ')
    frame = own.search(sample) if begun else None
    return f"{frame[1]}:{frame[2]}" if frame else ""
