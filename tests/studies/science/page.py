"""The page docs/science.md: findings on the papers' claims.

`python -m tests.studies.science.page` writes it from the stored findings.
"""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from tests.studies.science.claims import CLAIMS
from tests.studies.science.finding import Claim, Finding, Verdict
from tests.studies.science.kept import read_findings
from tests.studies.science.settings import ROOT, SETTINGS

#: Characters of a line of prose.
WIDTH = 120

HEAD = """\
# What holds of the papers' claims?

Papers on generalization make claims about trained networks. Which of these claims hold on small networks?

```sh
make science        # trains the corpora, tries the claims, and writes this page (two hours)
```

The networks are trained on scikit-learn's 8 x 8 digits, on Fashion-MNIST, and on synthetic data (*no images*). A claim
that fails here may well hold for the networks of its paper. The verdicts:

- *reproduced*: the interval, or the named test, excludes the opposite.
- *not reproduced*: the interval or test speaks against the claim, or shows no sign of it.
- *undecided*: the interval or test allows both.
- *not tried*: the evidence is missing, or is older than the test of the claim.

The last column says about how many networks would be needed to decide an undecided claim, if the estimate is right. For
claims of one kind, such as 6 to 9, the level of a test is 0.05 divided by the number of these claims. A measure is
*competitive* with another if its score is at most 5 points lower. Read more on [scores](statistics.md),
[measures](measures.md), the [overfitting test](overfitting.md) and the [testbed](testbed.md).
"""

CORPORA = """\
## Corpora

[tests/studies/science](../tests/studies/science) has the commands, the networks, and in `findings` the result for each
claim, with a statement on what the test can decide. This statement was written before anybody looked at the evidence.
The held-out corpora of digits are the demo tasks with other seeds and another split; those of Fashion-MNIST are
[recorded calls](fashion-mnist.md). For the claims on *no images*, linear classifiers of Gaussian data are trained, as
in the paper."""

#: Setting -> text of each of its claims -> what came out.
Findings = Mapping[str, Mapping[str, Finding]]


def write_page() -> None:
    """Write the page from the stored findings."""
    findings = {setting.name: read_findings(setting) for setting in SETTINGS.values()}
    (ROOT / "docs" / "science.md").write_text(page_text(findings))


def page_text(findings: Findings) -> str:
    return "\n".join([HEAD, *_counts(findings), "", *_verdicts(findings), "", *_notes(findings), "", CORPORA]) + "\n"


def _counts(findings: Findings) -> Iterator[str]:
    """Yield, for each setting, the number of claims with each verdict."""
    for setting in SETTINGS.values():
        counted = Counter(finding.verdict for finding in findings[setting.name].values())
        summary = ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict if counted[verdict])
        yield f"- {setting.title}: {sum(counted.values())} claims; {summary}."


def _verdicts(findings: Findings) -> Iterator[str]:
    """Yield the table of all claims with their findings in each setting."""
    columns = ["", "claim", "networks on", "verdict", "result", "90 % interval", "networks that would decide"]
    yield from [_row(columns), "|---" * len(columns) + "|"]
    for number, claim in enumerate(CLAIMS, 1):
        first = [str(number), claim.text]
        for title, one in _of(claim, findings).items():
            yield _row([*first, title, one.verdict, one.number, one.interval, one.needed])
            first = ["", ""]


def _notes(findings: Findings) -> Iterator[str]:
    """Yield the source and the remarks of each claim; consecutive claims may share a source."""
    yield from ["## Sources and remarks", ""]
    for source, group in groupby(enumerate(CLAIMS, 1), lambda item: item[1].source):
        claims = dict(group)
        numbers = " to ".join(map(str, sorted({min(claims), max(claims)})))
        notes = {number: note for number, claim in claims.items() if (note := _remark(claim, findings))}
        if len(claims) == 1:
            yield _item("- ", " ".join([f"{numbers}: {source}.", *notes.values()]))
        else:
            yield f"- {numbers}: {source}."
            yield from (_item("  - ", f"{number}: {note}") for number, note in notes.items())


def _item(bullet: str, text: str) -> str:
    """Return an item of a list, in lines of at most `WIDTH` characters."""
    indent = " " * len(bullet)
    return textwrap.fill(bullet + text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _remark(claim: Claim, findings: Findings) -> str:
    """Return the remarks on a claim in all settings, equal remarks once; "" without remarks."""
    remarks = {title: one.remark for title, one in _of(claim, findings).items() if one.remark}
    if len(set(remarks.values())) == 1:
        return "".join(f"{text[0].upper()}{text[1:]}." for text in set(remarks.values()))
    return " ".join(f"{title[0].upper()}{title[1:]}: {text}." for title, text in remarks.items())


def _of(claim: Claim, findings: Findings) -> dict[str, Finding]:
    """Return setting's title -> finding, for each setting in which a claim was tried."""
    tried = [setting for setting in SETTINGS.values() if setting.name in claim.power]
    return {setting.title: findings[setting.name][claim.text] for setting in tried}


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    write_page()
