"""The entry point of `pgdl`. It imports a command's module only to run the command, and prints errors in one line."""

import errno
import importlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from harness import __version__
from harness.errors import UserError
from harness.printing import say, say_usage, take_over

#: Name of a command -> one-line help, in the order in which a user needs them. Each command is the object `command` of
#: the module `harness.cli.NAME`.
COMMANDS = {
    "demo": "Write a small task and examples, to try the other commands on.",
    "new": "Write a commented template of a submission.",
    "check": "Try a submission on a few models.",
    "run": "Run submissions on every model of every task.",
    "score": "Score recorded runs or `.predict` files.",
    "board": "Print the leaderboard; optionally write it to files, or as a site.",
    "report": "Explain a submission's score: why it is not higher, and what to try next.",
    "verify": "Compute a site again from its records, and compare.",
    "results": "Print the recorded calls, as a table or for other programs.",
    "measures": "List the library's measures, or explain one.",
    "compare": "Run measures of the library on every model, and compare their scores.",
    "overfit": "Test whether models have been fitted to their test set.",
    "invariance": "Follow the accuracy of networks as their data are perturbed.",
    "testbed": "Evaluate models on noise and unseen classes, and compare measures with the result.",
    "ci": "Evaluate the submissions that a change of a repository touches.",
    "codabench": "Host a competition on Codabench: its bundle, its programs, and the results that come back.",
    "task": "List, show, validate, build, import and fetch tasks.",
    "help": "Show a page of the documentation.",
    "doctor": "Check this machine and its sandbox, and name remedies.",
}

EXIT_CODES = (
    "Exit codes: 0 success, 1 some calls failed or a rule of pgdl ci is broken, 2 wrong usage or input, 3 a model "
    "could not be trained, 70 a bug, 130 interrupted. Many options are also environment variables, e.g. PGDL_TASKS for "
    "--tasks; the help of each command names them."
)

#: Exit code after the traceback of a bug (EX_SOFTWARE).
BUG = 70

#: Exit code of a shell for a program that was ended by SIGPIPE.
BROKEN_PIPE = 128 + 13

#: Variable with OpenBLAS' number of threads, 1 unless the user sets it. Scores are made of many small matrix products:
#: on a busy machine, waiting threads of OpenBLAS would make them ten times slower.
ONE_THREAD = "OPENBLAS_NUM_THREADS"


class LazyGroup(click.Group):
    """A group of commands that imports a command's module only to run the command, so that `pgdl --help` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command, and return its object `command`; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"harness.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does. For an unknown command, raise `UserError`, which proposes a similar one."""
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            from harness.hints import did_you_mean

            hint = did_you_mean(args[0], COMMANDS) or "pgdl --help lists them"
            raise UserError(f"no command {args[0]!r}", remedy=hint)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; Ctrl-C ends it without the empty line that click would print."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.exceptions.Abort from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pgdl")
def cli() -> None:
    """Predicting generalization in deep learning: run, score and rank complexity measures."""


def main() -> NoReturn:
    """Run the command line, and exit. Print a `UserError` in one line, and the traceback of an unexpected exception."""
    _open_closed_streams()
    os.environ.setdefault(ONE_THREAD, "1")  # before anything imports NumPy
    _set_encodings()
    take_over()
    output = sys.stdout
    try:
        _install_signal_handlers()
        code = cli.main(prog_name="pgdl", standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        first, *more = error.lines
        say(f"pgdl: {first}", *more, err=True)
        sys.exit(2)
    except (click.exceptions.Abort, KeyboardInterrupt):
        say(*[""] * sys.stderr.isatty(), "pgdl: interrupted", err=True)  # a terminal shows ^C before it
        sys.exit(130)
    except click.ClickException as error:
        say_usage(error)
        sys.exit(error.exit_code)
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and sys.stdout is output:
            raise  # shell completion
        _give_up_output()  # the reader of the output has exited; click turns this error into SystemExit
        sys.exit(BROKEN_PIPE)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
            _give_up_output()
            say(f"pgdl: standard output, or a temporary file (TMPDIR): {error.strerror}", err=True)
            sys.exit(2)
        if line := _remedy(error):
            say(f"pgdl: {line}", err=True)
            sys.exit(2)
        say(*traceback.format_exc().splitlines(), "pgdl: this is a bug", err=True)
        sys.exit(BUG)
    sys.exit(code if isinstance(code, int) else 0)


#: Number of an error of the operating system -> what the user can do. Without a remedy, the message names the file.
_REMEDIES = {
    errno.EACCES: None, errno.ENAMETOOLONG: None, errno.ENOSPC: "free some space", errno.EDQUOT: "free some space",
    errno.EMFILE: "allow more by ulimit -n", errno.ENFILE: "allow more by ulimit -n",
}  # fmt: skip


def _remedy(error: Exception) -> str:
    """Return a line on an error caused by the system, by a file's permissions or name, a missing module or PYTHONPATH.

    Return "" for any other error.
    """
    from harness.extras import lacking

    if isinstance(error, OSError) and error.errno in _REMEDIES:
        file, remedy = error.filename2 or error.filename, _REMEDIES[error.errno]
        if file is not None or remedy is not None:
            return str(UserError(os.strerror(error.errno), file=file, remedy=remedy))
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return f"{error}; allow more processes and threads by ulimit -u"
    if line := lacking(error):
        return line
    home = Path(__file__).parents[2]
    places = [Path(place).absolute() for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, ImportError):  # an already imported module may lack a name
        files += [str(file) for one in [*sys.modules.values()] if (file := getattr(one, "__file__", None))]
    for file in map(Path, files):
        if not file.is_relative_to(home) and any(file.is_relative_to(place) for place in places):
            return f"{file} comes from PYTHONPATH and may not fit ({type(error).__name__}: {error}); unset PYTHONPATH"
    return ""


def _install_signal_handlers() -> None:
    """Treat SIGTERM, and SIGHUP of a closed terminal, like Ctrl-C. If SIGINT or SIGHUP is ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        terminals = [number for number in (1, 2) if os.isatty(number)]
        signal.signal(signal.SIGHUP, lambda *_: _hang_up(terminals))


def _hang_up(terminals: Sequence[int]) -> NoReturn:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the shell and the system may both send it
    for number in terminals:  # a closed terminal takes no more output
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    raise KeyboardInterrupt


def _open_closed_streams() -> None:
    """Open the null device for each closed standard stream. Else the next opened file would take the stream's place."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number is `number`
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _set_encodings() -> None:
    """Let the output streams write `?` for a character that the locale's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _give_up_output() -> None:
    """Discard buffered output, which the interpreter would otherwise try to write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
