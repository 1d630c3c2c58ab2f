"""What a worker says of an error: one line for the record, and the traceback among the output."""

import importlib
import importlib.util
import traceback
from types import TracebackType

from harness.worker.runtimes import Runtime

#: Longest message in characters; each may take twelve bytes of a frame.
MESSAGE = 300

#: The end of the message about a module that does not exist.
NOT_INSTALLED = (
    " (no file of the submission and no package where pgdl runs: `pip list` there shows them, `pip install` adds one; "
    "docs/submissions.md#packages)"
)


def describe(error: BaseException) -> str:
    """Return one line with the error's type and message; making the message may itself raise an error."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # including SystemExit
        text = "(its message cannot be printed)"
    return f"{type(error).__name__}: {text}"[:MESSAGE]


def advise(error: BaseException, runtime: Runtime) -> str:
    """Return one line with the error and what may cure it, if that is known; the error's own code may fail again."""
    try:
        advice = runtime.advice(error) or (NOT_INSTALLED if _is_not_installed(error) else "")
    except BaseException:
        advice = ""
    return describe(error)[: MESSAGE - len(advice)] + advice


def _is_not_installed(error: BaseException) -> bool:
    """Whether the error is about a module that nobody has; one that a runtime hides says so itself."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return False
    return importlib.util.find_spec(error.name.partition(".")[0]) is None


def print_error(error: BaseException, caller: str) -> None:
    """Print the traceback without its first frames, those of the file `caller` and of the import of the submission."""
    trace = error.__traceback__
    while trace is not None and _leads_in(trace, caller):
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace))


def _leads_in(trace: TracebackType, caller: str) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return file in (caller, importlib.__file__) or file.startswith("<frozen importlib")
