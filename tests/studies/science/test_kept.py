"""Tests of stored findings: each setting has its own, and a claim whose test has changed counts as not tried."""

import json
from pathlib import Path

import pytest

from tests.studies.science import kept
from tests.studies.science.claims import CLAIMS
from tests.studies.science.finding import Finding, Verdict
from tests.studies.science.kept import read_findings, write_findings
from tests.studies.science.page import page_text
from tests.studies.science.settings import DIGITS, FASHION, ROOT, SETTINGS, Setting

FOUND = Finding("0.1", "-0.1 to 0.3", Verdict.UNDECIDED, "about 40 networks", "small | few")
OF_IMAGES = [claim for claim in CLAIMS if DIGITS.name in claim.power]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "DIRECTORY", tmp_path)


def change(setting: Setting, name: str, value: str) -> None:
    """Change a stored value of the first claim."""
    file = kept.file_of(setting)
    content = json.loads(file.read_text())
    content[OF_IMAGES[0].text][name] = value
    file.write_text(json.dumps(content))


def keep(setting: Setting) -> None:
    write_findings(setting, {claim.text: FOUND for claim in CLAIMS if setting.name in claim.power})


def test_what_was_found_is_read_again() -> None:
    keep(DIGITS)
    assert read_findings(DIGITS) == {claim.text: FOUND for claim in OF_IMAGES}


@pytest.mark.parametrize("name", ["source", "command", "power"])
def test_a_claim_with_another_test_is_not_tried_in_that_setting(name: str) -> None:
    keep(DIGITS)
    keep(FASHION)
    change(DIGITS, name, "another")
    of_digits = [finding.verdict for finding in read_findings(DIGITS).values()]
    assert of_digits[0] is Verdict.NOT_TRIED
    assert set(of_digits[1:]) == {Verdict.UNDECIDED}
    assert set(read_findings(FASHION).values()) == {FOUND}


def test_a_setting_that_was_never_tried_leaves_the_others_as_they_are() -> None:
    keep(DIGITS)
    assert {finding.verdict for finding in read_findings(FASHION).values()} == {Verdict.NOT_TRIED}
    assert set(read_findings(DIGITS).values()) == {FOUND}


def test_the_page_has_verdicts_and_numbers_of_all_settings() -> None:
    keep(DIGITS)
    page = page_text({setting.name: read_findings(setting) for setting in SETTINGS.values()})
    digits = f"| 1 | {OF_IMAGES[0].text} | digits | undecided | 0.1 | -0.1 to 0.3 | about 40 networks |"
    assert f"{digits}\n|  |  | Fashion-MNIST | not tried |  |  |  |\n" in page
    assert f"- digits: {len(OF_IMAGES)} claims; {len(OF_IMAGES)} undecided." in page
    remark = "Digits: small | few. Fashion-MNIST: the test as it is now has not been run."
    assert remark in " ".join(page.split())


def test_shipped_findings_are_of_present_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "DIRECTORY", ROOT / "tests" / "studies" / "science" / "findings")
    for setting in SETTINGS.values():
        names = [claim.text for claim in CLAIMS if setting.name in claim.power]
        assert set(json.loads(kept.file_of(setting).read_text())) <= set(names)
        for finding in read_findings(setting).values():
            assert bool(finding.needed) == (finding.verdict is Verdict.UNDECIDED)
            assert finding.remark or finding.verdict is not Verdict.NOT_TRIED
