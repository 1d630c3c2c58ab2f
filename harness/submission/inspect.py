"""Reads a submission in a process with limits on memory and time (`harness.inspector`)."""

import os
import signal
import subprocess
import threading
from pathlib import Path

import yaml

from harness import children
from harness.errors import UserError
from harness.inspector.answer import MAX_ANSWER, MAX_PROBLEM, READY, Answer, AnswerError, parse_answer
from harness.inspector.files import is_leftover
from harness.inspector.limits import CPU_S
from harness.reading import own_path, refuse_link
from harness.submission.submission import Submission

#: Seconds after which a reading process is killed; the limit on its processor time, `CPU_S`, is lower.
WALL_S = 60.0

#: Program of the process that reads a submission; arguments: directory of PyYAML, kind of submission, path.
READ = (
    "yaml, kind, path = sys.argv[1:]; sys.path.append(yaml); from harness.inspector.main import main; main(kind, path)"
)

#: Program of the process that looks for a flaw in the source at its standard input.
FIND_FLAW = "from harness.inspector.flaw import main; main()"

#: Options of the interpreter: without installed packages, since importing them takes longer than reading.
OPTIONS = ("-S",)


def is_there(path: Path) -> bool:
    """Whether a file, directory or link exists. Raise `UserError` if the user may not read its directory."""
    try:
        path.lstat()
    except PermissionError as error:
        raise UserError("cannot be read: Permission denied", file=path) from error
    except (OSError, ValueError):  # ValueError: no path has that character
        return False
    return True


def inspect(path: Path) -> Answer:
    """Return files and metadata of the .py file, directory or zip at `path`, and any reason why it cannot be run.

    Raise `UserError` if `path` is a link or none of these three, or if the system refuses to read a file.
    """
    path = own_path(path)
    refuse_link(path)
    try:
        answer = _ask(_kind(path), path)
    except AnswerError as error:
        return Answer({}, {}, f"{path.name}: cannot be read: {error}")
    if answer.unreadable is not None:
        file, reason = answer.unreadable
        raise UserError(f"cannot be read: {reason}", file=path / file if file else path)
    problem = answer.problem
    if problem is None and "complexity.py" not in answer.files:
        found = ", ".join(sorted(answer.files)[:4]) + " ..." * (len(answer.files) > 4)
        problem = f"expected a file complexity.py at the top, found {found or 'nothing'}"
        folders = [name.rpartition("/")[0] for name in answer.files if name.endswith("/complexity.py")]
        if len(folders) == 1:
            problem += f"; {'zip' if path.suffix == '.zip' else 'hand in'} the folder {folders[0]} itself"
        elif any("/" not in name and name.endswith(".py") for name in answer.files):
            problem += "; to hand in a single .py file, name the file itself"
    return answer._replace(problem=problem)


def find_problem(submission: Submission) -> str | None:
    """Return why no call of a submission can succeed, as `FILE: REASON`; None if calls may succeed."""
    if submission.is_baseline:
        return None
    if submission.problem is not None:
        return f"{submission.source}: {submission.problem}"
    flaw = find_flaw(submission.files["complexity.py"])
    return f"{submission.measure_file}: {flaw}" if flaw else None


def find_flaw(source: bytes) -> str:
    """Return a flaw in a measure's source, found without running it; "" if no flaw is found in time."""
    command = children.harness_interpreter(FIND_FLAW, options=OPTIONS)
    try:
        done = children.run(command, _environment(), seconds=WALL_S, content=source)
    except subprocess.TimeoutExpired:
        return ""
    text = done.stdout.decode(errors="replace") if done.returncode == 0 else ""
    return "".join(character for character in text if character.isprintable())[:MAX_PROBLEM]


def _kind(path: Path) -> str:
    if path.is_dir() and not is_leftover(path.name):
        return "folder"
    if path.suffix not in (".py", ".zip"):
        expected, found = "a .py file, a directory or a .zip", path.suffix or "no suffix"
        remedy = "rename it in lower case" if found.lower() in (".py", ".zip") else None
        raise UserError("not a submission", file=path, expected=expected, found=found, remedy=remedy)
    return "file" if path.suffix == ".py" else "zip"


def _ask(kind: str, path: Path) -> Answer:
    """Return the answer of the process that reads `path`. Raise `AnswerError` if it ends without an answer."""
    arguments = str(Path(yaml.__file__).parents[1]), kind, str(path)
    command = children.harness_interpreter(READ, *arguments, options=OPTIONS)
    with children.popen(command, _environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            content = _receive(process)
            status = process.wait(WALL_S)
        except subprocess.TimeoutExpired as error:
            raise AnswerError("the reading process does not end") from error
        finally:
            process.kill()
        assert process.stderr is not None
        errors = process.stderr.read(1 << 16).decode(errors="replace")
    if not content.startswith(READY):
        raise RuntimeError(f"the process that reads submissions did not start: status {status}\n{errors}")
    if status == -signal.SIGXCPU:
        raise AnswerError(f"reading took more than {CPU_S} s of processor time")
    if status != 0:
        raise AnswerError(f"the reading process ended with status {status}")
    return parse_answer(content)


def _environment() -> dict[str, str]:
    return {"LD_LIBRARY_PATH": os.pathsep.join(children.own_libraries())}


def _receive(process: children.Child) -> bytes:
    """Return the output of the process. Raise `AnswerError` if the output takes too long or is too large.

    A thread reads the output: if a child process keeps the pipe open, a read can exceed the time limit.
    """
    assert process.stdout is not None
    source, content = os.dup(process.stdout.fileno()), bytearray()  # a copy that the thread closes

    def read() -> None:
        with os.fdopen(source, "rb", buffering=0) as stream:
            while len(content) <= MAX_ANSWER and (chunk := stream.read(1 << 20)):
                content.extend(chunk)

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(WALL_S)
    if reading.is_alive():
        raise AnswerError(f"reading took more than {WALL_S:g} s")
    if len(content) > MAX_ANSWER:
        raise AnswerError("the reading process sent too much")
    return bytes(content)
