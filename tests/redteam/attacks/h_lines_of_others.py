"""Gives its code the names of other files, and other lines to its own. Only lines of its own files are printed."""

import linecache
import os

EXPECT = ("EXCEPTION",)

LINE = "BREACH: a line of another file"


def complexity(model, dataset):
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
