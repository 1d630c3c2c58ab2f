"""The table of docs/fashion-mnist.md is written from scores of recorded corpora and from the page of the demo tasks."""

import json
import subprocess
import sys

from repository import ROOT

SCRIPT = ROOT / ".ci" / "write_corpus.py"

#: Measure -> score and Kendall's coefficient on each corpus; None: a network was refused.
SCORES = {
    "vpm": ((12.0, 0.5), (13.0, 0.7)),
    "l2_norm": ((5.0, -0.25), (5.0, -0.25)),
    "l2_dist": ((4.0, 0.25), (2.0, 0.0)),
    "vc_dim": ((3.0, 0.1), (3.0, 0.1)),
    "alpha_req": ((3.0, 0.1), None),
}

DEMO = """\
# All measures on the demo tasks

| rank | measure | family | score | a | b | Kendall | own | s | failed |
|---|---|---|---|---|---|---|---|---|---|
| 1 | `l2_norm`, `l2_dist` | norm | 9.50 | 9.00 | 10.00 | 0.300 |  | 0.1 |  |
| 3 | `vpm` | margin | 1.00 | 1.00 | 1.00 | 0.400 | 0 | 0.1 |  |
"""


def scored(name):
    tasks = {
        corpus: {"official": found and found[0], "kendall": found and found[1]}
        for corpus, found in zip(("images_a", "images_b"), SCORES[name], strict=True)
    }
    return {"submission": name, "score": None if None in SCORES[name] else 1.0, "tasks": tasks}


def test_scores_are_beside_those_of_the_demo_and_measures_that_refuse_a_network_come_last(tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps({"submissions": [scored(name) for name in SCORES]}))
    (tmp_path / "results.md").write_text(DEMO)
    command = [sys.executable, SCRIPT, tmp_path / "scores.json", tmp_path / "results.md"]
    with_demo, among, _, *lines = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    # Ranks of the mean scores 3, 2, 1 and 1, 2.5, 2.5; of the coefficients 3, 1, 2 and 3, 1.5, 1.5.
    assert with_demo == (
        "- Corpora and demo tasks: over 3 measures Spearman's coefficient is -0.87 for scores, 0.87 for Kendall's."
    )
    # Ranks 4, 3, 2, 1 and 4, 3, 1, 2; 4, 1, 3, 2 and 4, 1, 2, 3.
    assert among == (
        "- images_a and images_b: over 4 measures Spearman's coefficient is 0.80 for scores, 0.80 for Kendall's."
    )
    assert lines == [
        "| rank | measure | family | score | a | b | Kendall | score, demo | Kendall, demo |",
        "|---|---|---|---|---|---|---|---|---|",
        "| 1 | `vpm` | label variation | 12.50 | 12.00 | 13.00 | 0.600 | 1.00 | 0.400 |",
        "| 2 | `l2_norm` | norm | 5.00 | 5.00 | 5.00 | -0.250 | 9.50 | 0.300 |",
        "| 3 | `l2_dist` | norm | 3.00 | 4.00 | 2.00 | 0.125 | 9.50 | 0.300 |",
        "| 3 | `vc_dim` | size | 3.00 | 3.00 | 3.00 | 0.100 |  |  |",
        "|  | `alpha_req` | representation |  | 3.00 |  |  |  |  |",
    ]
