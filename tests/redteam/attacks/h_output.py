"""Output and input."""

import linecache
import os
import sys

from attack_suite import expected
from tools import fail


@expected("OUTPUT")
def h_flood(model, dataset):
    """Prints without end. The harness keeps a bounded part, and too much output ends the call."""
    while True:
        print("x" * 65536)


@expected("OUTPUT")
def h_flood_from_children(model, dataset):
    """Writes to the descriptors of output and error, without Python's streams, from several processes."""
    os.fork()
    os.fork()
    while True:
        os.write(1, b"\x00" * 65536)
        os.write(2, b"\xff" * 65536)


LINE = "BREACH: a line of another file"


@expected("EXCEPTION")
def h_lines_of_others(model, dataset):
    """Compiles code under names of other files, and changes cached lines. Tracebacks show only its own files' lines."""
    other = f"{os.environ['TMPDIR']}/other.py"
    with open(other, "w") as file:
        file.write(LINE)
    linecache.cache[__file__] = (1, None, [LINE + "\n"] * 99, __file__)
    try:
        exec(compile("1 / 0", other, "exec"))
    except ZeroDivisionError as error:
        try:
            exec(compile(LINE, __file__, "exec"))
        except SyntaxError as second:
            raise SyntaxError("odd", (other, 1, 1, LINE)) from ExceptionGroup("both", [error, second])


#: Name, outcomes, action, and reason.
ROWS = [
    ("h_closed_streams", "OK", os.close(1) or os.close(2), "Closes its own output. The result uses another channel."),
    ("h_escapes_in_error", "EXCEPTION",
     fail(ValueError("\x1b[31m\x1b]0;title\x07[bold red]OK[/bold red][/nothing]\r\n\n0.0 \ud800\u202e\x00")),
     "Puts terminal escapes and rich's markup into its error. Messages are reduced to printable characters."),
    ("h_reads_input", "OK", print("BREACH: there is input") if sys.stdin.read(1) or sys.__stdin__.isatty() else None,
     "Waits for input, as from a terminal. Standard input is empty."),
    ("h_terminal_escapes", "OK",
     print("\x1b[2J\x1b]0;title\x07\x1b]52;c;ZWNobw==\x07\x9b31m\rhidden\b\b\u202eevil\u2066\x00\x7f\u200b?"),
     "Prints escape sequences for terminals: colours, titles, the clipboard, overwritten lines, reversed direction."),
]  # fmt: skip
