"""Tests of the plot of a comparison: the names of measures, and the levels of chance and of the oracle."""

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from board_examples import MEASURE, Known, compare, rows

from harness.board.comparison_plot import NAMED, write_plot
from harness.board.row import Row
from harness.plots import dark_rules
from scoring import SubmissionScore

SVG = "{http://www.w3.org/2000/svg}"


def row(measure: str, family: str, score: float | None, complete: bool = True) -> Row:
    result = SubmissionScore(score, {}, complete, exceeded=False)
    return Row(1, measure, "baseline", result, {}, sandboxed=True, family=family)


def drawn(rows: Sequence[Row], directory: Path, oracle: float | None = None) -> tuple[list[str], str]:
    """Return the texts of the plot in the order of its SVG file, and the file's content."""
    file = directory / "plot.svg"
    write_plot(rows, [file], oracle)
    text = file.read_text()
    return [element.text or "" for element in ElementTree.fromstring(text).iter(f"{SVG}text")], text


MANY = [row(f"norm_{n}", "norm", 20.0 - n) for n in range(9)]
SOME = [row("best:seed=3", "size", 12.5), row("half", "margin", 9.0, complete=False), row("never", "margin", None)]


def test_the_best_of_every_family_are_named_and_the_others_counted(tmp_path: Path) -> None:
    texts, text = drawn([*MANY, *SOME], tmp_path)
    assert [text for text in texts if text.startswith("norm_")] == [f"norm_{n}" for n in range(NAMED)]
    shown = {"norm", "size", "margin", "best:seed=3", "half", "never"}
    assert shown | {f"{9 - NAMED} more", "mean official score (hollow: not of every task)"} <= set(texts)
    assert len(re.findall(r'<g id="PathCollection_', text)) == 9 + 2, "every measure with a score has a dot"
    texts, _ = drawn(MANY[: NAMED + 1], tmp_path)
    assert f"norm_{NAMED}" in texts, "one more than fits is named rather than counted"
    assert not any("more" in text for text in texts)


def dots(text: str) -> list[tuple[float, float]]:
    """Return the positions of all dots, the best score first; heights are measured from the top."""
    found = re.findall(r'<g id="PathCollection_.*?<use [^>]*x="([\d.]+)" y="([\d.]+)".*?</g>\s*</g>', text, re.DOTALL)
    return sorted(((float(x), float(y)) for x, y in found), reverse=True)


def test_the_best_stand_at_the_top_with_a_line_between_families_and_no_dot_is_cut_at_the_edge(tmp_path: Path) -> None:
    _, text = drawn(MANY, tmp_path)
    heights = [height for _, height in dots(text)]
    assert len(heights) == len(MANY)
    assert heights == sorted(heights)
    assert "clip-path" not in "".join(re.findall(r'<g id="PathCollection_.*?</g>\s*</g>', text, re.DOTALL))
    _, text = drawn([row("a", "norm", 20.0), row("b", "norm", 19.0), row("c", "size", 12.0)], tmp_path)
    (_, first), (_, second), (_, third) = dots(text)
    assert third - second == pytest.approx(2 * (second - first), rel=1e-3)


def test_chance_and_the_oracle_are_marked_where_they_are_known(single: Known, tmp_path: Path) -> None:
    """No two texts overlap, even if the oracle is no better than chance, so that both labels are close."""
    compared = compare(rows("vc_dim", MEASURE), single, {"vc_dim": "size"}).rows
    (level,) = (row.chance_level for row in compared)
    texts, _ = drawn(compared, tmp_path, oracle=20.71)
    assert {f"chance {level:.2f}", "noisy oracle 20.71"} <= set(texts)
    texts, _ = drawn(MANY, tmp_path)
    assert not any("chance" in text or "oracle" in text for text in texts)
    _, text = drawn([*MANY, *compared], tmp_path, oracle=level)
    places = re.findall(
        r'<text style="[^"]*" (?:x="([\d.]+)" y="([\d.]+)"|transform="translate\(([\d.]+) ([\d.]+)\)")', text
    )
    found = [(float(a or c), float(b or d)) for a, b, c, d in places]
    assert len(found) > len(MANY)
    pairs = [(one, other) for one, other in combinations(found, 2) if abs(one[0] - other[0]) < 1]
    assert [(one, other) for one, other in pairs if abs(one[1] - other[1]) < 8] == []


def test_it_needs_no_network_and_has_a_dark_mode(tmp_path: Path) -> None:
    _, text = drawn([*MANY, *SOME], tmp_path, oracle=20.0)
    assert "@font-face" not in text
    assert re.findall(r"url\((?!#)", text) == []
    used = set(re.findall(r"(?:fill|stroke): #[0-9a-f]+", re.sub(r"<style>.*?</style>", "", text)))
    assert [colour for colour in used if f'[style*="{colour}"]' not in dark_rules()] == []
    assert f"<style>{dark_rules()}</style>" in text


def test_the_same_rows_make_the_same_files(tmp_path: Path) -> None:
    paths = [tmp_path / "plot.png", tmp_path / "plot.svg"]
    write_plot(MANY, paths)
    before = [path.read_bytes() for path in paths]
    write_plot(MANY, paths)
    assert before == [path.read_bytes() for path in paths]
    assert before[0].startswith(b"\x89PNG")


def test_a_plot_without_any_score(single: Known, tmp_path: Path) -> None:
    texts, _ = drawn(compare([], single, {"never": "norm"}).rows, tmp_path)
    assert {"norm", "never"} <= set(texts)
