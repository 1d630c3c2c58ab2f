"""Tests of `python -m tests.studies.science`: settings are tried separately; claims without evidence are not tried."""

from pathlib import Path

import pytest

from harness.errors import UserError
from tests.studies.science import __main__ as science
from tests.studies.science import kept
from tests.studies.science.claims import CLAIMS
from tests.studies.science.evidence import Evidence, Missing
from tests.studies.science.finding import Claim, Finding, Verdict
from tests.studies.science.settings import FASHION, SYNTHETIC, Setting

pytestmark = pytest.mark.rest

FOUND = Finding("0.2", "0.1 to 0.3", Verdict.REPRODUCED)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "DIRECTORY", tmp_path)
    monkeypatch.setattr(science, "write_page", lambda: None)


def test_the_named_setting_alone_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Setting] = []
    monkeypatch.setattr(science, "make_evidence", lambda place, setting: made.append(setting))
    monkeypatch.setattr(science, "tried", lambda claim, evidence: FOUND)
    science.main(["synthetic"])
    assert made == [SYNTHETIC]
    assert [file.name for file in tmp_path.iterdir()] == ["synthetic.json"]
    assert set(kept.read_findings(SYNTHETIC).values()) == {FOUND}


def test_other_names_and_mistakes_are_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="unknown: cifar; settings are digits, fashion_mnist, synthetic"):
        science.main(["cifar"])

    def fails(place: Path, setting: Setting) -> None:
        raise UserError("fashion_mnist", expected="images", found="none")

    monkeypatch.setattr(science, "make_evidence", fails)
    with pytest.raises(SystemExit, match=r"fashion_mnist.*images.*none"):
        science.main(["fashion_mnist"])


def test_a_claim_without_evidence_is_not_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def check(evidence: Evidence) -> Finding:
        raise Missing("no held-out corpus has values of gi")

    found = science.tried(Claim("Gi tells", "Schiff", "held out", {}, check), Evidence(tmp_path, FASHION))
    assert found == Finding("", "", Verdict.NOT_TRIED, remark="no held-out corpus has values of gi")
    assert capsys.readouterr().out == "not tried: Gi tells: \n"


def test_shipped_records_are_evidence(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path, FASHION)
    tasks = evidence.held_out("random", "dbi_mixup")
    assert "fashion_vgg" in tasks
    assert evidence.values("fashion_vgg", "dbi_mixup").shape == evidence.gaps("fashion_vgg").shape == (64,)
    assert "cdnv" not in evidence.measures("fashion_vgg"), "of a family that is not compared"
    with pytest.raises(Missing, match="no held-out corpus has values of random and norm_of_nothing"):
        evidence.held_out("random", "norm_of_nothing")


def test_every_claim_says_its_power_somewhere() -> None:
    assert all(claim.power for claim in CLAIMS)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)
