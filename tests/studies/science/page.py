"""The page docs/science.md: findings on the papers' claims.

`python -m tests.studies.science.page` writes it from the findings that are kept.
"""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping

from tests.studies.science.claims import CLAIMS
from tests.studies.science.finding import Finding, Verdict
from tests.studies.science.kept import read_findings
from tests.studies.science.settings import ROOT, SETTINGS

#: Characters of a line of prose.
WIDTH = 120

HEAD = """\
# What holds of the papers' claims?

For readers of papers on generalization: which of their claims hold on small networks?

```sh
make science        # trains the corpora, tries the claims, and writes this page (two hours)
```

The corpora are small networks on scikit-learn's 8 x 8 digits and on Fashion-MNIST; *no images* is a synthetic
experiment. A claim that fails here may well hold for the networks of its paper, and a claim that is reproduced here is
reproduced for these networks only. Claims that hold by construction, and claims about speed, are not listed.

- *reproduced*: the interval, or the named test, excludes the opposite.
- *not reproduced*: the interval or test speaks against the claim, or shows no sign of it.
- *undecided*: the interval or test allows both.
- *not tried*: the evidence is missing, or is older than the test of the claim.

*would decide* extrapolates how many networks in all would decide an undecided claim: read it as an order of magnitude.
It takes the estimate for exact, and its error for falling with the square root of the number of networks. If each of
several corpora has a p-value, it counts networks of further corpora with the same p-values. *none can be said* means
that the estimate is no better than chance.

*Power* says what the evidence can decide, and was written before anybody looked at the evidence.
"""

CORPORA = """\
## Corpora and commands

[tests/studies/science](../tests/studies/science) has the commands (`commands.py`), the corpora beside
`invariance_digits_rotation` and `digits_half` of `pgdl task recipes` (`corpora.py`), and the results (`findings`). On
the digits, `held_out_*` are the shipped tasks with other seeds and another split. On Fashion-MNIST, *held out* reads
the shipped records of [task_data/recorded](../task_data/recorded). *synthetic* trains the paper's linear classifiers of
Gaussians, 100 in each setting. `.venv/bin/python -m tests.studies.science fashion_mnist` tries one setting."""

#: Setting -> text of each of its claims -> what came out.
Findings = Mapping[str, Mapping[str, Finding]]


def write_page() -> None:
    """Write the page from the findings that are kept."""
    findings = {setting.name: read_findings(setting) for setting in SETTINGS.values()}
    (ROOT / "docs" / "science.md").write_text(page_text(findings))


def page_text(findings: Findings) -> str:
    """Return the page."""
    return "\n".join([HEAD, *_summary(findings), *_details(findings), CORPORA]) + "\n"


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
        found = {setting.title: findings[setting.name][claim.text] for setting in settings}
        yield from [f"### {number}. {claim.text}", "", f"{claim.source}; made by *{claim.command}*.", ""]
        yield from ["| | number | 90 % interval | verdict |", "|---|---|---|---|"]
        yield from (_row([title, one.number, one.interval, one.verdict]) for title, one in found.items())
        yield ""
        yield from _each("Power", {setting.title: claim.power[setting.name] for setting in settings})
        yield from _each("Remark", {title: one.remark for title, one in found.items() if one.remark})
        yield ""


def _each(name: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a list item with the texts of the settings, a text that they share once."""
    if texts:
        shared = len(set(texts.values())) == 1
        parts = set(texts.values()) if shared else [f"{title}: {text}" for title, text in texts.items()]
        line = f"- *{name}*: {'. '.join(parts)}."
        yield textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    write_page()
