"""The table of docs/fashion-mnist.md is written from what `pgdl compare` prints and from the page of the demo tasks."""

import subprocess
import sys

from repository import ROOT

SCRIPT = ROOT / ".ci" / "write_corpus.py"

COMPARISON = """\
rank,measure,family,score,score:images,kendall,kendall:images,models,failed
1,first,margin,12.3456,12.3456,0.5,0.5,4,0
2,second,norm,5,5,-0.25,-0.25,4,0
3,third,norm,4,4,0.25,0.25,4,1
4,new,norm,3,3,0.1,0.1,4,0
5,never,norm,,,,,4,4
"""

DEMO = """\
# All measures on the demo tasks

| rank | measure | family | score | a | b | Kendall | own | s | failed |
|---|---|---|---|---|---|---|---|---|---|
| 1 | `second`, `third` | norm | 9.50 | 9.00 | 10.00 | 0.300 |  | 0.1 |  |
| 3 | `first` | margin | 1.00 | 1.00 | 1.00 | 0.400 | 0 | 0.1 |  |
"""


def test_scores_are_beside_those_of_the_demo_and_measures_that_lack_either_are_counted_out(tmp_path):
    (tmp_path / "comparison.csv").write_text(COMPARISON)
    (tmp_path / "results.md").write_text(DEMO)
    command = [sys.executable, SCRIPT, tmp_path / "comparison.csv", tmp_path / "results.md"]
    sentence, _, *lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    # Ranks of the scores 3, 2, 1 and 1, 2.5, 2.5; of the coefficients 3, 1, 2 and 3, 1.5, 1.5.
    assert sentence == "Over 3 measures Spearman's coefficient is -0.87 for scores, 0.87 for Kendall's."
    assert lines == [
        "| rank | measure | family | score | Kendall | failed | score, demo | Kendall, demo |",
        "|---|---|---|---|---|---|---|---|",
        "| 1 | `first` | margin | 12.35 | 0.500 |  | 1.00 | 0.400 |",
        "| 2 | `second` | norm | 5.00 | -0.250 |  | 9.50 | 0.300 |",
        "| 3 | `third` | norm | 4.00 | 0.250 | 1 | 9.50 | 0.300 |",
        "| 4 | `new` | norm | 3.00 | 0.100 |  |  |  |",
    ]
