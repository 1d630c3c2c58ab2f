"""Writes docs/science.md: what holds of the papers' claims."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.science.finding import CLAIMS, Finding, Verdict, shown

HEAD = """\
# What holds of the papers' claims?

`make science` trains small corpora from nothing, runs the commands below, and writes this page, on which
failed claims stay. All corpora consist of small networks on scikit-learn's 8 x 8 digits, which need no
download. A claim that fails here may well hold for the networks of its paper.
A claim that is reproduced here is reproduced for these networks only.

- *reproduced*: the interval, or the test that is named, excludes the opposite.
- *not reproduced*: the interval or test speaks against the claim, or shows no sign of it.
- *undecided*: the interval or test allows both.
- *not tried*: the test of the claim has changed, and `make science` has not been run since.

*power* says what the evidence can decide, and was written before it was looked at. Claims that hold by the
construction of what is computed, and those about the speed of a machine, are not listed.

"""

CORPORA = """\
The corpora are `invariance_digits_rotation` and `digits_half` of `pgdl task recipes`, and those that
[tests/science/corpora.py](../tests/science/corpora.py) writes; `held_out_*` are the shipped tasks with other seeds and
another split of the digits. *synthetic* is no command of `pgdl`: [tests/science/synthetic](../tests/science/synthetic)
trains the paper's linear classifiers of Gaussians, 100 in each setting."""


def write_page(findings: Mapping[str, Finding], commands: Mapping[str, Sequence[str]], file: Path) -> None:
    """Write the page.

    Args:
        findings: text of each claim -> what came out.
        commands: key -> arguments of `pgdl`.
        file: the page.
    """
    counted = Counter(finding.verdict for finding in findings.values())
    summary = ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict if counted[verdict])
    lines = [
        HEAD + f"{len(findings)} claims: {summary}.",
        "",
        "| claim | source | made by | power | number | 90 % interval | verdict |",
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for claim in CLAIMS:
        found = findings[claim.text]
        remark = f": {found.remark}" if found.remark else ""
        verdict = f"**{found.verdict}**{remark}"
        cells = (claim.text, claim.source, claim.command, claim.power, found.number, found.interval, verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "## Commands", "", "In the order of `make science`, after the corpora have been trained:", ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {key} | `{shown(list(arguments))}` |" for key, arguments in commands.items()]
    lines += ["", CORPORA.rstrip()]
    file.write_text("\n".join(lines) + "\n")
