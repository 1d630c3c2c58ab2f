"""Tests of strangers' JSON, TOML and YAML: any text gives plain values within limits, or a `ValueError`."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from harness import plain_yaml
from harness.parsing import MAX_DEPTH, MAX_PARTS, MAX_VALUES, parse_json, parse_toml
from harness.plain_yaml import parse_yaml


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_content_comes_back() -> None:
    assert parse_json(b'{"a": [1, 2.5, null, "{"]}') == {"a": [1, 2.5, None, "{"]}
    assert parse_json("1", parse_int=str) == "1"
    assert parse_toml('a.b = 1\n[[c]]\nd = "e.f"\n') == {"a": {"b": 1}, "c": [{"d": "e.f"}]}


def test_depth_is_bounded() -> None:
    content: Any = parse_json(nested(MAX_DEPTH))
    for _ in range(MAX_DEPTH - 1):
        (content,) = content
    assert content == []
    for depth in (MAX_DEPTH + 1, 900, 10**6):
        with pytest.raises(ValueError, match="nested deeper than 200 levels"):
            parse_json(nested(depth))
        with pytest.raises(ValueError, match="nested deeper than 200 levels"):
            parse_toml(f"a = {nested(depth)}")
    with pytest.raises(ValueError, match="nested deeper than 200 levels"):
        parse_json('{"a": ' * 500 + "1" + "}" * 500)
    assert parse_json('"' + "[" * 1000 + '"') == "[" * 1000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_the_number_of_values_is_bounded(encoding: str) -> None:
    text = "[" + "{}," * (MAX_VALUES // 2) + "{}]"
    with pytest.raises(ValueError, match=f"more than {MAX_VALUES} values"):
        parse_json(text.encode(encoding))
    assert parse_json("[1, 2]".encode(encoding)) == [1, 2]


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        *((parse_json, text) for text in ("1" * 5000, "{", "", "nul", '"\\ud800', b"\xff\xfe\xff")),
        *((parse_toml, text) for text in ("a = " + "1" * 5000, "a =", "a = 1\na = 2", "a = 2027-02-30", "\x00")),
        (parse_yaml, "command: x".encode("utf-16")),
    ],
    ids=range(12),
)
def test_other_errors_are_value_errors(parse: Callable[[Any], object], text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"Exceeds|Expecting|Invalid|codec|overwrite|day is|found"):
        parse(text)


@pytest.mark.parametrize("part", ["a", '"a"', "'a'", "a-b"])
@pytest.mark.parametrize("dot", [".", " .\t"])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "[[{}]]", "a = {{{} = 1}}"])
def test_long_keys_of_toml_are_refused(part: str, dot: str, form: str) -> None:
    """Python's parser takes hours for a key of 100 kB."""
    with pytest.raises(ValueError, match="a key of more than 100 parts"):
        parse_toml(form.format(dot.join([part] * 50_000)))


def test_text_with_many_dots_is_none() -> None:
    numbers = ", ".join(["0.5"] * 1000)
    assert len(parse_toml(f"a = [{numbers}]\nb = '{'.' * 1000}'")["a"]) == 1000
    assert parse_toml(".".join(["a"] * MAX_PARTS) + " = 1")


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
        ("[" * 65_000, f"{plain_yaml.MAX_DEPTH} levels"),
        ("- " * 32_000, f"{plain_yaml.MAX_DEPTH} levels"),
        ("? " * 32_000, f"{plain_yaml.MAX_DEPTH} levels"),
        ("[" + "a," * (plain_yaml.MAX_VALUES + 1) + "]", f"more than {plain_yaml.MAX_VALUES} values"),
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
