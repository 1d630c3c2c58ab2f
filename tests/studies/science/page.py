"""The page docs/science.md: findings on the papers' claims.

`python -m tests.studies.science.page` writes it from the findings that are kept.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.studies.science.claims import CLAIMS
from tests.studies.science.commands import commands
from tests.studies.science.finding import Claim, Finding, Verdict, shown
from tests.studies.science.kept import read_findings
from tests.studies.science.settings import ROOT, SETTINGS, Setting

#: Where the evidence of a setting is made, below the working directory.
EVIDENCE = Path("build", "science")

HEAD = """\
# What holds of the papers' claims?

For readers of papers on generalization: which of their claims hold on small networks?

```sh
make science        # trains the corpora, tries the claims, and writes this page (two hours)
```

The corpora consist of small networks: on scikit-learn's 8 x 8 digits, which need no download, and on Fashion-MNIST.
*no images* is a synthetic experiment. Failed claims stay on the page. A claim that fails here may well hold for the
networks of its paper, and a claim that is reproduced here is reproduced for these networks only.

- *reproduced*: the interval, or the named test, excludes the opposite.
- *not reproduced*: the interval or test speaks against the claim, or shows no sign of it.
- *undecided*: the interval or test allows both.
- *not tried*: the test of the claim has changed and `make science` has not been run since, or its evidence is missing.

*would decide* extrapolates how many networks in all would decide an undecided claim. It assumes that the estimate is
exact, and that its error falls with the square root of the number of networks: read it as an order of magnitude. If
each of several corpora has a p-value, it counts networks of further corpora with the same p-values. *none can be said*
means that the estimate is no better than chance.

*power* says what the evidence can decide, and was written before anybody looked at the evidence. Claims that hold by
the construction of a number, and claims about the speed of a machine, are not listed.
"""

CORPORA = """\
The corpora are `invariance_digits_rotation` and `digits_half` of `pgdl task recipes`, and those that
[tests/studies/science/corpora.py](../tests/studies/science/corpora.py) writes: the same recipes with Fashion-MNIST's
images made smaller, and on the digits `held_out_*`, the shipped tasks with other seeds and another split. The held-out
corpora of Fashion-MNIST are those of [task_data/recorded](../task_data/recorded), whose shipped records are read:
*held out* needs no command there. *synthetic* is no command of `pgdl`:
[tests/studies/science/synthetic](../tests/studies/science/synthetic) trains the paper's linear classifiers of
Gaussians, 100 in each setting.

[tests/studies/science/findings](../tests/studies/science/findings) has a file of results for each setting.
`.venv/bin/python -m tests.studies.science fashion_mnist` tries one setting, and writes the page from all files."""

#: Setting -> text of each of its claims -> what came out.
Findings = Mapping[str, Mapping[str, Finding]]


def write_page() -> None:
    """Write the page from the findings that are kept."""
    findings = {setting.name: read_findings(setting) for setting in SETTINGS.values()}
    (ROOT / "docs" / "science.md").write_text(page_text(findings))


def page_text(findings: Findings) -> str:
    """Return the page."""
    return "\n".join([HEAD, *_summary(findings), *_details(findings), *_commands(), CORPORA]) + "\n"


def _summary(findings: Findings) -> Iterator[str]:
    """Yield the counts and the verdicts of all claims."""
    for setting in SETTINGS.values():
        counted = Counter(finding.verdict for finding in findings[setting.name].values())
        summary = ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict if counted[verdict])
        yield f"- {setting.title}: {sum(counted.values())} claims; {summary}."
    yield ""
    titles = " | ".join(setting.title for setting in SETTINGS.values())
    yield f"| | claim | {titles} | would decide |"
    yield "|---" * (len(SETTINGS) + 3) + "|"
    for number, claim in enumerate(CLAIMS, 1):
        found = {setting: findings[setting.name].get(claim.text) for setting in SETTINGS.values()}
        verdicts = [one.verdict if one else "" for one in found.values()]
        needed = "; ".join(f"{setting.title}: {one.needed}" for setting, one in found.items() if one and one.needed)
        yield _row([str(number), claim.text, *verdicts, needed])
    yield ""


def _details(findings: Findings) -> Iterator[str]:
    """Yield a section for each claim."""
    yield from ["## The claims", ""]
    for number, claim in enumerate(CLAIMS, 1):
        settings = [setting for setting in SETTINGS.values() if setting.name in claim.power]
        yield from [f"### {number}. {claim.text}", "", f"{claim.source}; made by *{claim.command}*.", ""]
        yield _row(["", *(setting.title for setting in settings)])
        yield "|---" * (len(settings) + 1) + "|"
        columns = [_lines(claim, setting, findings[setting.name][claim.text]) for setting in settings]
        rows = ([name, *(column[name] for column in columns)] for name in columns[0])
        yield from (_row(cells) for cells in rows if any(cells[1:]))
        yield ""


def _lines(claim: Claim, setting: Setting, found: Finding) -> dict[str, str]:
    remark = f": {found.remark}" if found.remark else ""
    return {
        "power": claim.power[setting.name],
        "number": found.number,
        "90 % interval": found.interval,
        "verdict": f"**{found.verdict}**{remark}",
        "would decide": found.needed,
    }


def _commands() -> Iterator[str]:
    yield from ["## Commands", "", "In the order of `make science`, after the corpora have been trained.", ""]
    for setting in SETTINGS.values():
        if made := commands(EVIDENCE / setting.name, setting):
            yield from [_row([setting.title, ""]), "|---|---|"]
            yield from (_row([key, f"`{shown(arguments)}`"]) for key, arguments in made.items())
            yield ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    write_page()
