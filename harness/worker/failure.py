"""Describes an error that a submission raised: by a line for the call's record, and by a traceback for its output."""

import importlib
import importlib.util
import linecache
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from harness.worker.refusals import refusal
from harness.worker.runtimes import Runtime

#: Maximum number of characters of a message. A character may take twelve bytes of a message to the harness.
MESSAGE = 300

#: The end of messages about a module that is not installed.
NOT_INSTALLED = (
    " (no file of the submission and no package that it can import: install one where pgdl runs, or ask the organiser; "
    "pgdl help submissions#packages)"
)


def describe(error: BaseException) -> str:
    """Return one line with type and message of an error, even if the error fails to give its message."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # including SystemExit
        text = "(its message cannot be printed)"
    return f"{type(error).__name__}: {text}"[:MESSAGE]


def advise(error: BaseException, runtime: Runtime, submission: Path) -> str:
    """Return one line about an error of the submission in the directory `submission`, with a remedy if one is known."""
    try:
        missing = NOT_INSTALLED if _is_not_installed(error) else ""
        advice = refusal(error, submission) + (runtime.advice(error, submission) or missing)
    except BaseException:  # the error's own methods may raise any error
        advice = ""
    return describe(error)[: max(MESSAGE - len(advice), 0)] + advice


def _is_not_installed(error: BaseException) -> bool:
    """Return whether an import failed because a package is missing, and not because the runtime hides it."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return False
    return importlib.util.find_spec(error.name.partition(".")[0]) is None


def print_error(error: BaseException, caller: str, submission: Path) -> None:
    """Print the traceback of an error, without its first frames in the file `caller` and in Python's import system.

    A submission chooses the file names in its code and its errors. Source lines are therefore printed only from files
    in the directory `submission`.
    """
    trace = error.__traceback__
    while trace is not None and _leads_in(trace, caller):
        trace = trace.tb_next
    error = error.with_traceback(trace)
    report = traceback.TracebackException.from_exception(error, lookup_lines=False, compact=True)
    linecache.clearcache()  # the submission may have put other lines into the cache
    _keep_own_lines(report, submission.resolve())
    report.print()


def _leads_in(trace: TracebackType, caller: str) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return file in (caller, importlib.__file__) or file.startswith("<frozen importlib")


def _keep_own_lines(report: traceback.TracebackException, submission: Path) -> None:
    """Remove source lines of files outside the submission from a traceback and the tracebacks that it contains."""
    reports = [report]
    while reports:
        one = reports.pop()
        one.stack[:] = [frame if _is_in(submission, frame.filename) else _without_line(frame) for frame in one.stack]
        if getattr(one, "text", None) is not None:
            one.text = _line_of(one) if _is_in(submission, one.filename) else None  # type: ignore[assignment]
        reports += filter(None, (one.__cause__, one.__context__, *(one.exceptions or ())))


def _is_in(submission: Path, file: object) -> bool:
    with suppress(TypeError, ValueError, OSError, RuntimeError):  # no path, or a circle of links
        return Path(file).is_absolute() and Path(file).resolve().is_relative_to(submission)  # type: ignore[arg-type]
    return False


def _without_line(frame: traceback.FrameSummary) -> traceback.FrameSummary:
    return traceback.FrameSummary(frame.filename, frame.lineno, frame.name, lookup_line=False, line="")


def _line_of(report: traceback.TracebackException) -> str | None:
    """Return the source line of a syntax error, read from the file: the error itself may contain an invented line."""
    with suppress(TypeError, ValueError):
        return linecache.getline(report.filename, int(report.lineno)) or None  # type: ignore[arg-type]
    return None
