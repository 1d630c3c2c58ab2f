"""Formats text for readers: makes untrusted text safe, and writes numbers, times, sizes and p-values as text."""

import re
import textwrap

#: Characters that control a terminal or end a line; and surrogates, which UTF-8 cannot encode.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

#: Letters of Korean that are invisible, though Unicode counts them as printable.
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0")

#: First characters of formulas in spreadsheets, also in full width, and characters that spreadsheets skip.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")

#: The text that replaces a secret.
HIDDEN = "***"

#: Patterns that find passwords in untrusted text in linear time: a word, the user in an address, and parameters.
_WORD, _USER = re.compile(r"\S+"), re.compile(r"(:/{1,2}[^\s/:@]*):")
_PASSWORD = re.compile(r"(\bpassword\s*=\s*)(?:'[^']*'|[^\s&;,]+)", re.IGNORECASE)


def is_printable(text: str) -> bool:
    """Whether all characters of a text are printable and none is an invisible letter."""
    return text.isprintable() and (text.isascii() or _INVISIBLE.isdisjoint(text))


def printable(text: str) -> str:
    """Return a text with `?` for each unprintable character, so that it cannot control a terminal."""
    if is_printable(text):
        return text
    return "".join(character if is_printable(character) else "?" for character in text)


def cut(text: str, longest: int) -> str:
    """Return the result of `printable`. If it has more than `longest` characters, cut it and add an ellipsis."""
    text = printable(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"


def is_line(text: str) -> bool:
    """Whether a text is one line without control characters."""
    return text.isprintable() or _CONTROL.search(text) is None


def is_text(text: str) -> bool:
    """Whether a text consists of lines without control characters, except tabs."""
    return text.isprintable() or is_line(text.replace("\n", " ").replace("\t", " "))


def printable_lines(text: str) -> str:
    """Return a text with `?` for each unprintable character except line breaks and tabs."""
    return "".join(one if is_printable(one) or one in "\n\t" else "?" for one in text)


def on_page(value: object) -> object:
    """Return a value for the template of a page: texts pass through `printable_lines`, all else is unchanged."""
    return printable_lines(value) if type(value) is str else value


def without_passwords(text: str) -> str:
    """Replace passwords in addresses and parameters by `HIDDEN`, as far as they are recognised."""
    text = _WORD.sub(lambda found: _hidden(found[0]), text) if "@" in text else text
    return _PASSWORD.sub(rf"\g<1>{HIDDEN}", text)


def _hidden(word: str) -> str:
    """Replace everything in an address between the user name and the last @ by `HIDDEN`."""
    before, at, after = word.rpartition("@")
    user = _USER.search(before)
    return word if user is None else f"{before[: user.end()]}{HIDDEN}{at}{after}"


def safe_line(text: str) -> str:
    """Return the text as one printable line without passwords, for output and publication."""
    return printable(without_passwords(" ".join(text.expandtabs().splitlines())))


def may_wrap(line: str) -> bool:
    """Whether a line may be broken between words. A line with a command, which users copy, may not."""
    return "pgdl " not in line


def wrapped(line: str, width: int) -> list[str]:
    """Break a line between words into lines of at most `width` characters, with equal indent."""
    indent = " " * (len(line) - len(line.lstrip(" ")))
    found = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return found if may_wrap(line) and found else [line]


def not_a_formula(text: str) -> str:
    """Return a text for a cell of CSV: with an apostrophe in front if a spreadsheet would take it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def counted(number: int, noun: str) -> str:
    """Return a number with a noun, in the plural if necessary: `1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def exact(number: float) -> str:
    """Return the shortest text that identifies a float, without a final `.0`: `300`, `0.1`."""
    return repr(float(number)).removesuffix(".0")


def duration(seconds: float) -> str:
    """Return a time as text: at least 90 min in hours, at least 90 s in minutes, less in seconds (at least 1 s)."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def size(n_bytes: int) -> str:
    """Return a number of bytes as text with one decimal, such as `1.5 kB` (1000 bytes are a kB), up to GB."""
    if n_bytes < 1000:
        return f"{n_bytes} B"
    number = n_bytes / 1000
    for unit in ("kB", "MB"):
        if number < 999.95:  # not rounded to 1000.0
            return f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def p_value_text(p_value: float | None) -> str:
    """Return a p-value with four decimals, or `<0.0001`; a dash for None."""
    if p_value is None:
        return "-"
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def p_value_equation(p_value: float) -> str:
    """Return a p-value for a sentence: `p = 0.0123`, or `p < 0.0001`."""
    text = p_value_text(p_value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
