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

For readers of papers on generalization: which of their claims hold on small networks?

```sh
make science        # trains the corpora, tries the claims, and writes this page (two hours)
```

The corpora are small networks on scikit-learn's 8 x 8 digits and on Fashion-MNIST; *no images* is a synthetic
experiment. Verdicts are on these networks only: a claim that fails here may well hold for the networks of its paper.

- *reproduced*: the interval, or the named test, excludes the opposite.
- *not reproduced*: the interval or test speaks against the claim, or shows no sign of it.
- *undecided*: the interval or test allows both.
- *not tried*: the evidence is missing, or is older than the test of the claim.

*would decide* is the number of networks that would decide an undecided claim if its estimate were the truth: read it as
an order of magnitude. For several claims of one kind, such as 6 to 9, the level of a test is 0.05 divided by their
number. A measure is *competitive* if its score is at most 5 points lower.
"""

CORPORA = """\
## Corpora

[tests/studies/science](../tests/studies/science) has the commands, the corpora, and for each claim the result and what
the test can decide, written before anybody looked at the evidence (`findings`). On the digits, the held-out corpora are
the shipped tasks with other seeds and another split; on Fashion-MNIST, they are the shipped records of
[task_data/recorded](../task_data/recorded). Without images, the paper's linear classifiers of Gaussians are trained."""

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
    columns = ["", "claim", "corpora", "verdict", "number", "90 % interval", "would decide"]
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
        note = f"- {numbers}: {source}."
        for number, claim in claims.items():
            remarks = {title: one.remark for title, one in _of(claim, findings).items() if one.remark}
            note += _each(f"Remark on {number}" if len(claims) > 1 else "Remark", remarks)
        yield textwrap.fill(note, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _of(claim: Claim, findings: Findings) -> dict[str, Finding]:
    """Return setting's title -> finding, for each setting in which a claim was tried."""
    tried = [setting for setting in SETTINGS.values() if setting.name in claim.power]
    return {setting.title: findings[setting.name][claim.text] for setting in tried}


def _each(name: str, texts: Mapping[str, str]) -> str:
    """Return the settings' texts as a sentence, with equal texts once; "" without texts."""
    if not texts:
        return ""
    shared = len(set(texts.values())) == 1
    parts = set(texts.values()) if shared else [f"{title}: {text}" for title, text in texts.items()]
    return f" *{name}*: {'. '.join(parts)}."


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    write_page()
