"""The stored findings of each setting, in tests/studies/science/findings: each setting can be tried alone."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from tests.studies.science.claims import CLAIMS
from tests.studies.science.finding import Claim, Finding, Verdict
from tests.studies.science.settings import Setting

DIRECTORY = Path(__file__).with_name("findings")

#: The finding on a claim whose test was never run, or was changed since.
NOT_RUN = Finding("", "", Verdict.NOT_TRIED, remark="the test as it is now has not been run")


def file_of(setting: Setting) -> Path:
    return DIRECTORY / f"{setting.name}.json"


def write_findings(setting: Setting, findings: Mapping[str, Finding]) -> None:
    """Store the findings of all claims of a setting, each with the source, command and power of its test.

    Args:
        setting: where the claims were tried.
        findings: text of each claim -> finding.
    """
    claims = {claim.text: claim for claim in CLAIMS}
    kept = {text: _test(claims[text], setting) | asdict(finding) for text, finding in findings.items()}
    file_of(setting).write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n")


def read_findings(setting: Setting) -> dict[str, Finding]:
    """Return text of a claim -> finding in a setting; a claim whose test has changed since counts as not tried."""
    kept = json.loads(file_of(setting).read_text()) if file_of(setting).exists() else {}
    return {claim.text: _finding(claim, setting, kept) for claim in CLAIMS if setting.name in claim.power}


def _finding(claim: Claim, setting: Setting, kept: Mapping[str, Mapping[str, str]]) -> Finding:
    entry, test = dict(kept.get(claim.text, {})), _test(claim, setting)
    if {name: entry.pop(name, None) for name in test} != test:
        return NOT_RUN
    return Finding(verdict=Verdict(entry.pop("verdict")), **entry)


def _test(claim: Claim, setting: Setting) -> dict[str, str]:
    """Return what identifies a claim's test: its source, command and power."""
    return {"source": claim.source, "command": claim.command, "power": claim.power[setting.name]}
