"""The page of all measures on the demo tasks is written from tables that `pgdl` prints."""

import json
import re
import subprocess
import sys

import pytest
from repository import ROOT
from throwaway import make_task

SCRIPT = ROOT / ".ci" / "write_results.py"

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


#: What `pgdl score --format json` prints, in part.
CORPORA = {
    "submissions": [
        {"submission": name, "score": score, "tasks": {"images": {"official": score, "kendall": kendall}}}
        for name, score, kendall in (
            ("drawn", 9.0, 0.4),
            ("some", 2.0, -0.1),
            ("log_some", 2.5, -0.1),
            ("never", None, 0),
        )
    ]
}


def page(tmp_path):
    calls = ["submission,task,model,value", "never,digits_a,model_0,"]
    for measure, tasks in VALUES.items():
        calls += [f"{measure},{task},model_{n},{v}" for task, row in tasks.items() for n, v in enumerate(row)]
    for task in ("digits_a", "digits_b"):
        make_task(tmp_path / "tasks", name=task)
    (tmp_path / "comparison.csv").write_text(COMPARISON)
    (tmp_path / "calls.csv").write_text("\n".join(calls))
    (tmp_path / "corpora.json").write_text(json.dumps(CORPORA))
    files = [tmp_path / name for name in ("tasks", "comparison.csv", "calls.csv", "corpora.json")]
    command = [sys.executable, SCRIPT, "page", *files]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_measures_that_order_models_alike_share_a_line_and_seeds_show_randomness(tmp_path):
    lines = [line for line in page(tmp_path).splitlines() if line.startswith("| ")]
    # On b two seeds exchange two models, whose ranks 1 and 2 vary by 1/4 over models: all is random; on a nothing is.
    assert lines == [
        "| rank | measure | family | score | a | b | Kendall | own | s | failed "
        "| real images: score | real images: Kendall |",
        "| 1 | `drawn` | margin | 12.35 | 10.00 | 14.69 | 0.500 | 50 | 0.012 |  | 9.00 | 0.400 |",
        "| 2 | `some`, `log_some` | norm | 5.00 | 5.00 | 5.00 | -0.250 |  | 0.100, 0.002 |  | 2.00, 2.50 | -0.100 |",
        "| 4 | `reversed` | norm | 4.00 | 4.00 | 4.00 | 0.250 |  | 0.100 | 1 |  |  |",
    ]


def test_the_page_has_mean_and_deviation_of_the_oracle(tmp_path):
    text = " ".join(page(tmp_path).split())
    found = re.search(r"with noise of 0.02 have (\S+) ± \S+ \((\S+) ± \S+ (\S+) ± \S+ mean and standard", text)
    total, *tasks = (float(number.strip(",)")) for number in found.groups())
    assert total == pytest.approx(sum(tasks) / 2, abs=0.1)
    assert 0 < total < 100


def test_the_page_says_how_far_the_rankings_agree(tmp_path):
    text = " ".join(page(tmp_path).split())
    # Ranks of the scores 3, 1.5, 1.5 here and 3, 1, 2 there; of the coefficients 3, 1.5, 1.5 on both sides.
    assert "over 3 measures Spearman's coefficient is 0.87 for scores, 1.00 for Kendall's." in text


def test_measures_that_draw_are_asked_for_with_another_seed():
    command = [sys.executable, SCRIPT, "seeds", "3"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().split(",")
    assert "mixup_error:seed=3" in names
    assert not [name for name in names if name.startswith("num_params")]
