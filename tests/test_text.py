"""Tests of texts for readers."""

import time
import tracemalloc

import pytest

from harness.hints import did_you_mean
from harness.text import not_a_formula, printable, printable_lines, safe_line, size, without_passwords


def test_a_size_has_a_unit_that_fits() -> None:
    for n_bytes, text in {
        0: "0 B", 999: "999 B", 1000: "1.0 kB", 45_678: "45.7 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
        46_000_000: "46.0 MB", 8_800_000_000: "8.8 GB", 2_000_000_000_000: "2000.0 GB",
    }.items():  # fmt: skip
        assert size(n_bytes) == text


def test_a_password_is_hidden_up_to_the_last_at_of_its_word() -> None:
    for text, shown in {
        "see postgresql://me:a:b@c@host/x, then": "see postgresql://me:***@host/x, then",
        "two //a:b@c //d:e@f": "two //a:b@c //d:e@f",
        "two s://a:b@c s://d:e@f": "two s://a:***@c s://d:***@f",
        "a@b at 10:30 of s://host:80/x": "a@b at 10:30 of s://host:80/x",
        "password = 'a b' & Password=c@d": "password = *** & Password=***",
        "password=s://me:a&b@host": "password=***",
    }.items():
        assert without_passwords(text) == shown


def test_a_formula_in_csv_is_text_also_in_full_width() -> None:
    for letter in "=+-@\uff1d\uff0b\uff0d\uff20":
        assert not_a_formula(f"{letter}1") == f"'{letter}1"
        assert not_a_formula(f"1{letter}1") == f"1{letter}1"


def test_invisible_letters_are_replaced() -> None:
    assert printable("a\u115fb\u1160c\u3164d\uffa0\ud55c") == printable_lines("a\u115fb\u1160c\u3164d\uffa0\ud55c")
    assert printable("a\u115fb\u1160c\u3164d\uffa0\ud55c") == "a?b?c?d?\ud55c"


@pytest.mark.parametrize("part", ["://a:", ":/a", ":", "password", "password ", "password='", "@", ":/@", "\t", "a"])
def test_a_long_text_is_shown_in_no_time(part: str) -> None:
    """A stranger's file may have a text of megabytes, which an error quotes."""
    begin = time.thread_time()
    safe_line(part * (400_000 // len(part)))
    assert time.thread_time() - begin < 5


@pytest.mark.rest
def test_a_long_name_resembles_no_other() -> None:
    name = "relu" * 250_000
    tracemalloc.start()
    assert did_you_mean(name, ["relu", name]) is None
    assert tracemalloc.get_traced_memory()[1] < 8 * 1024**2
    tracemalloc.stop()
    assert did_you_mean("rellu", ["relu", name]) == "did you mean 'relu'?"
