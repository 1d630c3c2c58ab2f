"""The pictures of the documents: they need no network, and are drawn from what `pgdl board` prints."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from repository import ROOT

PICTURES = sorted((ROOT / "docs").glob("*.svg"))
TEXT = "{http://www.w3.org/2000/svg}text"


def row(rank, name, kind, score, digits, toys, standing=None, excess=None, p_value=None):
    tasks = {
        "digits": {"official": digits},
        "toys & <more>": {"failed": "late"} if toys is None else {"official": toys},
    }
    return {
        "rank": rank, "submission": name, "kind": kind, "score": score, "tasks": tasks, "standing": standing,
        "excess": excess, "adjusted_p_value": p_value,
    }  # fmt: skip


def spread(mean, deviation):
    return {"mean": mean, "deviation": deviation}


BOARD = json.dumps({
    "rows": [
        row(
            1, "mine", "submission", 9.1, 8.0, 10.2, {"low": 5.0, "high": 15.0, "best_rank": 1, "worst_rank": 2},
            1.75, 0.00001,
        ),
        row(2, "late", "baseline", 4.0, 4.0, None),
        row(None, "never", "baseline", None, None, None),
    ],
    "oracle": {"score": spread(20.714, 6.25), "tasks": {"digits": spread(22.12, 7), "toys & <more>": spread(19.3, 6)}},
    "hyperparameters": {"in_sample": {"score": 12.5, "tasks": {"digits": 15.5, "toys & <more>": 9.5}}},
})  # fmt: skip


def drawn(board):
    command = [sys.executable, ROOT / ".ci" / "draw_board.py"]
    return subprocess.run(command, input=board, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_of_the_documents_stand_for_themselves(picture):
    text = picture.read_text()
    ElementTree.fromstring(text)
    assert "prefers-color-scheme: dark" in text
    assert "@font-face" not in text
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert re.findall(r'href="(?!#)', text) == []


def test_every_picture_of_the_documents_is_drawn_by_make():
    text = (ROOT / "Makefile").read_text()
    assert [picture.name for picture in PICTURES if f"docs/{picture.name}" not in text] == []


def test_a_board_is_drawn_line_by_line():
    texts = [element.text for element in ElementTree.fromstring(drawn(BOARD)).iter(TEXT)]
    assert texts == [
        *("rank", "submission", "score", "digits", "toys & <more>", "excess", "p", "ranks"),
        *("1", "mine", "9.10", "8.00", "10.20", "1.75", "<0.0001", "1-2"),
        *("2", "late", "baseline", "4.00", "4.00", "-", "-", "-", "-"),
        *("-", "never", "baseline", "-", "-", "-", "-", "-", "-"),
        *("-", "noisy oracle", "reference", "20.71", "22.12", "19.30", "-", "-", "-"),
        *("-", "hyperparameters", "reference", "12.50", "15.50", "9.50", "-", "-", "-"),
    ]


def test_dots_and_lines_are_at_scores_and_intervals():
    picture = drawn(BOARD)
    found = re.findall(r'<g id="score-([^"]+)">\s*<path d="M ([\d.]+) ', picture)
    dots = {name: float(place) for name, place in found}
    found = re.findall(r'<g id="interval-([^"]+)">\s*<path d="M ([\d.]+) [\d.]+\s+L ([\d.]+) ', picture)
    lines = {name: (float(start), float(end)) for name, start, end in found}
    assert list(lines) == ["mine", "noisy oracle"]
    start, end = lines["noisy oracle"]
    scale = (end - start) / (2 * 6.25)
    zero = start - (20.714 - 6.25) * scale
    assert lines["mine"] == pytest.approx((zero + 5 * scale, zero + 15 * scale), abs=0.2)
    scores = {"mine": 9.1, "late": 4.0, "noisy oracle": 20.714, "hyperparameters": 12.5}
    places = {name: zero + score * scale for name, score in scores.items()}
    assert dots == pytest.approx(places, abs=0.2)


def test_only_kinds_of_rows_are_faint():
    faint = re.findall(r'<text style="[^"]*fill: #8a8f98"[^>]*>([^<]*)<', drawn(BOARD))
    assert faint == ["baseline", "baseline", "reference", "reference"]
