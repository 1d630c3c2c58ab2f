"""Tests of printing: no text can control the terminal or imitate a line of the program."""

import ast
import io
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from harness.errors import UserError, UserErrors
from harness.printing import output, put, say, take_over
from harness.tables import PlainColumn, SafeConsole, plain, print_lines, print_table, wide_console
from harness.text import safe_line

HARNESS = Path(__file__).parents[1] / "harness"

#: Calls that print, and calls that create printing objects.
PRINTS = {
    "print", "pprint", "Console", "Status", "TextColumn", "Live", "Prompt",
    "click.echo", "click.secho", "click.style", "click.echo_via_pager", "click.confirm", "click.prompt", "click.pause",
    "click.progressbar", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write", "sys.stderr.buffer.write",
    "sys.__stdout__.write", "sys.__stderr__.write", "traceback.print_exc", "traceback.print_exception",
    "traceback.print_stack", "logging.basicConfig", "logging.StreamHandler", "warnings.showwarning", "error.show",
}  # fmt: skip

#: File -> calls of `PRINTS` that the file may make; a comment says why.
ALLOWED = {
    "printing.py": {"click.secho", "click.confirm", "error.show"},  # the printer
    "public/pgdl/__main__.py": {"print"},  # before the printer can be imported; only ASCII
    "ci/post.py": {"print"},  # runs without an installation; makes messages printable
    "sandbox/__main__.py": {"print"},  # an error, which is printable
    "worker/main.py": {"traceback.print_exc"},  # in a sandbox, whose output is read and bounded
    "worker/zygote.py": {"traceback.print_exc"},
    "worker/legacy/devices.py": {"print"},
    "worker/legacy/ingestion_program/data_io.py": {"print", "sys.stderr.write"},
}

HOSTILE = "a\x1b[31mred\x1b]8;;http://evil\x07b\r\nc\x9b2J\u202ed\tend"
SHOWN = "a?[31mred?]8;;http://evil?b c?2J?d"


def calls(file: Path) -> Iterator[ast.Call]:
    return (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))


@pytest.mark.rest
def test_nothing_else_prints() -> None:
    found = {
        (file.relative_to(HARNESS).as_posix(), name)
        for file in HARNESS.rglob("*.py")
        for call in calls(file)
        if (name := ast.unparse(call.func)) in PRINTS
    }
    assert found == {(file, name) for file, names in ALLOWED.items() for name in names}


def test_what_rich_shows_as_it_works_has_no_markup() -> None:
    """Rich reads the text of a spinner as markup: an invalid tag, such as the path `[/a]`, would end the command."""
    shows = [
        (file.name, ast.unparse(call))
        for file in HARNESS.rglob("*.py")
        for call in calls(file)
        if isinstance(call.func, ast.Attribute)
        and (call.func.attr == "status" or ast.unparse(call.func).endswith("status.update"))
        and call.args
        and ast.unparse(call.args[0]) != "''"
    ]
    assert shows
    assert [line for _, line in shows if "(plain(" not in line] == []


def terminal() -> SafeConsole:
    return SafeConsole(force_terminal=True, width=40, markup=False, emoji=False, highlight=False, file=io.StringIO())


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_lines_on_standard_output_and_error(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE, "second")
    say(HOSTILE, err=True, bold=True)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].startswith(SHOWN)
    assert printed.out.splitlines()[1:] == ["second"]
    assert len(printed.err.splitlines()) == 1
    assert "\x1b" not in printed.err


@pytest.mark.parametrize(("variable", "is_coloured"), [("", True), ("1", False)])
def test_a_line_has_no_colour_with_no_color(
    variable: str, is_coloured: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    say("warning", fg="red", color=True)
    assert ("\x1b[31m" in capsys.readouterr().out) is is_coloured


def test_a_console_keeps_its_own_styles_only() -> None:
    console = terminal()
    console.print(HOSTILE, style="bold")
    print_lines(console, [HOSTILE], style="none")
    print_table(console, ("name", "head\x1bing"), [[HOSTILE, "[bold]:smile:[/x]"]], left=("name",))
    console.print(plain(HOSTILE))
    text = said(console)
    assert text.startswith(f"\x1b[1m{SHOWN}")
    for own in ("\x1b[1m", "\x1b[0m"):
        text = text.replace(own, "")
    assert all(one.isprintable() or one == "\n" for one in text)
    assert "[bold]:smile:[/x]" in text
    assert "head?ing" in text


def test_bars_and_spinners_take_text_as_it_is() -> None:
    console = terminal()
    with Progress(PlainColumn("{task.description}"), console=console) as bars:
        bars.add_task(f"[/a] [link=http://evil]x[/link] {HOSTILE}", total=1)
    with console.status(plain(f"reading [/a] {HOSTILE}")) as status:
        status.update(plain("[/b]"))
    text = said(console)
    assert f"[/a] [link=http://evil]x[/link] {SHOWN}"[:38] in text
    for foreign in ("\x1b[31m", "\x1b]8", "\x9b", "\u202e", "\r\n"):
        assert foreign not in text


def test_a_terminal_breaks_lines_between_words_but_not_commands_to_copy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.printing._terminal_width", lambda _: 20)
    lines = ("  the first few-lettered words", "run pgdl check submissions/my_measure")
    say(*lines)
    wanted = ["  the first", "  few-lettered words", lines[1]]
    assert capsys.readouterr().out.splitlines() == wanted
    console = SafeConsole(force_terminal=True, no_color=True, width=20, soft_wrap=True, file=io.StringIO())
    for line in lines:
        console.print(line)
    assert [line.split() for line in said(console).splitlines()] == [line.split() for line in wanted]


def test_content_for_programs_is_exact_in_a_pipe_and_cannot_control_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(f"{HOSTILE}\n")
    with output() as stream:
        stream.write(b"second\n")
    assert capsys.readouterr().out == f"{HOSTILE}\nsecond\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    put("a,\x1b[31mred\nb\x9b2J,\xff\n")
    assert capsys.readouterr().out == "a,?[31mred\nb?2J,\xff\n"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_warnings_of_libraries_and_errors_that_end_a_thread_are_printed_the_same_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quoted = f"{HOSTILE}, see http://me:canary@host/x"

    def fail() -> None:
        raise ValueError(quoted)

    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        take_over()
        warnings.warn(quoted, stacklevel=1)
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    text = capsys.readouterr().err
    assert "UserWarning: a?[31mred" in text
    assert "ValueError: a?[31mred" in text
    assert [one for one in ("canary", "\x1b") if one in text] == []


def test_errors_are_lines_whoever_prints_them() -> None:
    error = UserError(f"no {HOSTILE}", file="a\nb", found=HOSTILE, remedy="mend it")
    assert str(error) == safe_line(f"a\nb: no {HOSTILE}: found {HOSTILE}; mend it")
    assert error.lines == (str(error),)
    several = UserErrors("one\ntwo", UserError("three", found="\x1b"))
    assert several.lines == ("one two", "three: found ?")
    assert str(several) == "one two\nthree: found ?"


def test_a_pipe_gets_no_blanks_at_the_ends_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    console = wide_console()
    assert isinstance(console, SafeConsole)
    console.print("a  ")
    console.print("b  ", end="")
    console.print("c")
    print_table(console, ("one", "two"), [("left", "x"), ("l", "")], left=("one", "two"))
    assert capsys.readouterr().out == "a\nb  c\none   two\nleft  x\nl\n"
