"""Tests that pages and pictures of the documentation are drawn from output of `pgdl`."""

import csv
import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from repository import ROOT
from throwaway import make_task

pytestmark = pytest.mark.rest

PICTURES = sorted((ROOT / "docs").glob("*.svg"))
TEXT = "{http://www.w3.org/2000/svg}text"


DASH = "\N{EN DASH}"


def row(rank, name, kind, score, digits, toys, **more):
    late = {"failed": "late"} if toys is None else {"official": toys}
    tasks = {"digits": {"official": digits}, "toys & <more>": late}
    empty = {"standing": None, "excess": None, "adjusted_p_value": None}
    return {"rank": rank, "submission": name, "kind": kind, "score": score, "tasks": tasks} | empty | more


def spread(mean, deviation):
    return {"mean": mean, "deviation": deviation}


STANDING = {"low": 5.0, "high": 15.0, "best_rank": 1, "worst_rank": 2}
BOARD = {
    "rows": [
        row(1, "mine", "submission", 9.1, 8.0, 10.2, standing=STANDING, excess=1.75, adjusted_p_value=0.00001),
        row(2, "late", "baseline", 4.0, 4.0, None),
        row(None, "never", "baseline", None, None, None),
    ],
    "oracle": {"score": spread(20.714, 6.25), "tasks": {"digits": spread(22.12, 7), "toys & <more>": spread(19.3, 6)}},
    "hyperparameters": {"in_sample": {"score": 12.5, "tasks": {"digits": 15.5, "toys & <more>": 9.5}}},
}


def ran(script, *arguments, given=""):
    command = [sys.executable, ROOT / ".ci" / script, *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_of_the_documents_stand_for_themselves_and_are_drawn_by_make(picture):
    text = picture.read_text()
    ElementTree.fromstring(text)
    assert "prefers-color-scheme: dark" in text
    assert re.findall(r'@font-face|@import|url\((?!#)|href="(?!#)', text) == []
    assert f"docs/{picture.name}" in (ROOT / "Makefile").read_text()


def test_a_board_is_drawn_line_by_line_with_marks_at_scores_and_lines_at_intervals():
    """Chance and the oracle are named where they are drawn."""

    def drawn(**changes):
        picture = ran("draw_board.py", given=json.dumps(BOARD | changes))
        return picture, [element.text for element in ElementTree.fromstring(picture).iter(TEXT)]

    picture, texts = drawn()
    assert texts == [
        *("rank", "submission", "score", "digits", "toys & <more>", "1", "mine", "9.1", "8.0", "10.2"),
        *("2", "late", "baseline", "4.0", "4.0", DASH, DASH, "never", "baseline", DASH, DASH, DASH),
    ]
    found = re.findall(r'<g id="score-([^"]+)">\s*<path d="M ([\d.]+) ', picture)
    marks = {name: float(place) for name, place in found}
    found = re.findall(r'<g id="interval-([^"]+)">\s*<path d="M ([\d.]+) [\d.]+\s+L ([\d.]+) ', picture)
    ((name, start, end),) = found
    assert name == "mine"
    scale = (float(end) - float(start)) / (15.0 - 5.0)
    zero = float(start) - 5.0 * scale
    assert marks == pytest.approx({"mine": zero + 9.1 * scale, "late": zero + 4.0 * scale}, abs=0.2)
    rows, oracle = [row | {"chance": 2.0} for row in BOARD["rows"]], BOARD["oracle"] | {"score": spread(8.0, 1.0)}
    _, texts = drawn(rows=rows, oracle=oracle)
    assert texts[5:7] == ["chance", "noisy oracle"]


COMPARISON = """\
rank,measure,family,score,score:digits_a,score:digits_b,kendall,kendall:digits_a,seconds_per_model,models,failed,outcomes,reason
1,drawn,margin,12.3456,10,14.6912,0.5,0.5,0.0123,4,0,,
2,some,norm,5,5,5,-0.25,-0.25,0.1,4,0,,
2,log_some,norm,5,5,5,-0.25,-0.25,0.002,4,0,,
4,reversed,norm,4,4,4,0.25,0.25,0.1,4,1,1 EXCEPTION,
5,never,norm,,,,,,,4,4,4 EXCEPTION,refused
"""

VALUES = {
    "drawn": {"digits_a": [1, 2, 3], "digits_b": [1, 2]},
    "drawn:seed=1": {"digits_a": [1, 2, 3], "digits_b": [2, 1]},
    "some": {"digits_a": [1, 10, 100], "digits_b": [5, 5]},
    "log_some": {"digits_a": [0, 1, 2], "digits_b": [0.7, 0.7]},
    "reversed": {"digits_a": [3, 2, 1], "digits_b": [5, 5]},
}


CORPORA = {
    "submissions": [
        {"submission": name, "score": score, "tasks": {"images": {"official": score, "kendall": kendall}}}
        for name, score, kendall in (
            ("drawn", 9.0, 0.4), ("some", 2.0, -0.1), ("log_some", 2.5, -0.1), ("never", None, 0),
        )
    ]
}  # fmt: skip


def test_the_page_of_results(tmp_path):
    calls = ["submission,task,model,value", "never,digits_a,model_0,"]
    for measure, tasks in VALUES.items():
        calls += [f"{measure},{task},model_{n},{v}" for task, row in tasks.items() for n, v in enumerate(row)]
    for task in ("digits_a", "digits_b"):
        make_task(tmp_path / "tasks", name=task)
    for name, content in (("comparison.csv", COMPARISON), ("calls.csv", "\n".join(calls))):
        (tmp_path / name).write_text(content)
    (tmp_path / "corpora.json").write_text(json.dumps(CORPORA))
    files = [tmp_path / name for name in ("tasks", "comparison.csv", "calls.csv", "corpora.json", "table.csv")]
    text = ran("write_results.py", "page", *files)
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    # Measures that order models alike share a line. On b two seeds exchange two models, whose ranks 1 and 2 vary by 1/4
    # over models: all is random; on a nothing is.
    assert lines == [
        "| rank | measure | score | Kendall | real images: score | real images: Kendall | family | own | a | b |",
        "| 1 | `drawn` | 12.35 | 0.500 | 9.00 | 0.400 | margin | 50 | 10.00 | 14.69 |",
        "| 2 | `some`, `log_some` | 5.00 | -0.250 | 2.00, 2.50 | -0.100 | norm |  | 5.00 | 5.00 |",
        "| 4 | `reversed` | 4.00 | 0.250 |  |  | norm |  | 4.00 | 4.00 |",
    ]
    with (tmp_path / "table.csv").open(newline="") as file:  # the whole table is a file, too
        cells = [line.strip("| ").replace("`", "").split(" | ") for line in lines[:2]]
        assert [*csv.reader(file)][:2] == cells
    assert "Measures without a value for some models: `reversed` (1)." in text
    words = " ".join(text.split())
    score = r"(\S+) ± \S+"
    found = re.search(rf"noise of 0.02, would score only {score} \({score} {score} on the tasks\): mean", words)
    total, *tasks = (float(number.strip(",)")) for number in found.groups())
    assert total == pytest.approx(sum(tasks) / 2, abs=0.1)
    assert 0 < total < 100
    # Ranks of the scores 3, 1.5, 1.5 here and 3, 1, 2 there; of the coefficients 3, 1.5, 1.5 on both sides.
    assert "over 3 measures, Spearman's rho is 0.87 for scores and 1.00 for Kendall's tau." in words
    names = ran("write_results.py", "seeds", "3").strip().split(",")  # measures that draw, with another seed
    assert "mixup_error:seed=3" in names
    assert not [name for name in names if name.startswith("num_params")]


#: Measure -> score and Kendall's coefficient on each corpus; None: a network was refused.
SCORES = {
    "vpm": ((12.0, 0.5), (13.0, 0.7)),
    "l2_norm": ((5.0, -0.25), (5.0, -0.25)),
    "l2_dist": ((4.0, 0.25), (2.0, 0.0)),
    "vc_dim": ((3.0, 0.1), (3.0, 0.1)),
    "alpha_req": ((3.0, 0.1), None),
}

DEMO = """\
rank,measure,score,Kendall,family
1,"l2_norm, l2_dist",9.50,0.300,norm
3,vpm,1.00,0.400,margin
"""


def scored(name):
    tasks = {
        corpus: {"official": found and found[0], "kendall": found and found[1]}
        for corpus, found in zip(("images_a", "images_b"), SCORES[name], strict=True)
    }
    return {"submission": name, "score": None if None in SCORES[name] else 1.0, "tasks": tasks}


def test_scores_are_beside_those_of_the_demo_without_measures_that_refuse_a_network(tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps({"submissions": [scored(name) for name in SCORES]}))
    (tmp_path / "results.csv").write_text(DEMO)
    text = ran("write_corpus.py", tmp_path / "scores.json", tmp_path / "results.csv")
    with_demo, among, _, *lines = text.splitlines()
    of_scores, of_tau = "measures, Spearman's rho is", "for Kendall's tau."
    # Ranks of the mean scores 3, 2, 1 and 1, 2.5, 2.5; of the coefficients 3, 1, 2 and 3, 1.5, 1.5.
    assert with_demo == f"- Corpora and demo tasks: over 3 {of_scores} -0.87 for scores and 0.87 {of_tau}"
    # Ranks 4, 3, 2, 1 and 4, 3, 1, 2; 4, 1, 3, 2 and 4, 1, 2, 3.
    assert among == f"- images_a and images_b: over 4 {of_scores} 0.80 for scores and 0.80 {of_tau}"
    assert lines == [
        "| rank | measure | family | score | a | b | Kendall | score, demo | Kendall, demo |",
        "|---|---|---|---|---|---|---|---|---|",
        "| 1 | `vpm` | label variation | 12.50 | 12.00 | 13.00 | 0.600 | 1.00 | 0.400 |",
        "| 2 | `l2_norm` | norm | 5.00 | 5.00 | 5.00 | -0.250 | 9.50 | 0.300 |",
        "| 3 | `l2_dist` | norm | 3.00 | 4.00 | 2.00 | 0.125 | 9.50 | 0.300 |",
        "| 3 | `vc_dim` | size | 3.00 | 3.00 | 3.00 | 0.100 |  |  |",
    ]
