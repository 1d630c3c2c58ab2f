"""YAML of a stranger: only plain values within bounds; other content is refused before objects are built."""

import datetime

import pytest

from harness.plain_yaml import MAX_DEPTH, MAX_VALUES, parse_yaml

#: 600 bytes of YAML that expand to 9**8 mappings.
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9))


def test_plain_values() -> None:
    text = "a: 1\nb: [2.5, true, null, 2027-01-31]\nc: {d: 'é'}\n\"e\": |\n  two\n  lines\n"
    date = datetime.date(2027, 1, 31)
    assert parse_yaml(text.encode()) == {"a": 1, "b": [2.5, True, None, date], "c": {"d": "é"}, "e": "two\nlines\n"}
    assert parse_yaml(b"# nothing\n") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MERGES, "an anchor or alias"),
        ("a: &x 1\nb: 2", "an anchor or alias"),
        ("<<: {command: x}", "a merge"),
        ("a: !!binary eA==", "a tag"),
        ("!!python/name:os.system x: 1", "a tag"),
        ("command: x\ncommand: y", "a key twice"),
        ("[" * 65_000, f"{MAX_DEPTH} levels"),
        ("- " * 32_000, f"{MAX_DEPTH} levels"),
        ("? " * 32_000, f"{MAX_DEPTH} levels"),
        ("[" + "a," * (MAX_VALUES + 1) + "]", f"more than {MAX_VALUES} values"),
        ("a: " + "1" * 101, "a number of more than 100 characters"),
        ("a: 1" + ":1" * 30_000, "a number of more than 100 characters"),
        ("a: 2027-02-30", "day is out of range for month"),
        ("a: 1\n---\nb: 2", "expected a single document"),
        ("? [a]\n: 1", "unhashable"),
        ("{", "expected the node content"),
        ("a: \0", "unacceptable character"),
    ],
    ids=range(17),
)
def test_what_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as error:
        parse_yaml(text.encode())
    assert len(str(error.value).splitlines()) == 1
    assert "^" not in str(error.value)  # a mark below a quoted line


def test_other_encodings_are_refused() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        parse_yaml("command: x".encode("utf-16"))
