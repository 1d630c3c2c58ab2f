"""The pictures of the documents: they need no network, and are drawn from what `pgdl board` prints."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from repository import ROOT

PICTURES = sorted((ROOT / "docs").glob("*.svg"))
TEXT = "{http://www.w3.org/2000/svg}text"

BOARD = """\
rank,submission,kind,score,digits,toys & <more>,seconds_per_model,calls_ok,calls_expected,low,high,best_rank,worst_rank
1,noisy_oracle,oracle,20.714,22.12,19.3,,96,96,12.5,25.0,1,1
2,mine,submission,9.1,8.0,10.2,0.51,96,96,5.0,15.0,1,2
3,late,baseline,4.0,4.0,,0.02,90,96,,,,
,never,baseline,,,,,0,96,,,,
"""


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
    texts = [element.text or "" for element in ElementTree.fromstring(drawn(BOARD)).iter(TEXT)]
    assert texts == [
        *("rank", "submission", "", "score", "digits", "toys & <more>", "ranks"),
        *("1", "noisy_oracle", "oracle", "20.71", "22.12", "19.30", "1"),
        *("2", "mine", "", "9.10", "8.00", "10.20", "1-2"),
        *("3", "late", "baseline", "4.00", "4.00", "-", "-"),
        *("-", "never", "baseline", "-", "-", "-", "-"),
    ]


def test_dots_and_lines_are_at_scores_and_intervals():
    picture = drawn(BOARD)
    dots = {kind: float(place) for kind, place in re.findall(r'<circle class="(\w+) mark" cx="([\d.]+)"', picture)}
    lines = re.findall(r'<rect class="(\w+) mark" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture)
    assert [kind for kind, *_ in lines] == ["oracle", "submission"]
    (_, start, length), (_, other_start, other_length) = lines
    scale = float(length) / (25 - 12.5)
    zero = float(start) - 12.5 * scale
    assert (float(other_start), float(other_length)) == pytest.approx((zero + 5 * scale, 10 * scale), abs=0.2)
    assert dots == pytest.approx(
        {"oracle": zero + 20.714 * scale, "submission": zero + 9.1 * scale, "baseline": zero + 4 * scale}, abs=0.2
    )


def test_only_marks_are_faint():
    faint = re.findall(r'class="faint"[^>]*>([^<]*)<', drawn(BOARD))
    assert faint == ["oracle", "", "baseline", "baseline"]
