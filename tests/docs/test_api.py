"""docs/api.md: every section runs, and prints what the page says."""

import sys
from pathlib import Path

import pytest
from pages import Section, run, sections

from harness.cli.main import main
from harness.records import Records
from tests.board.board_examples import rows

TASK = "digits_nin_small"

#: What the example submissions return for the models of `pgdl demo`, in their order.
VALUES = {
    "error_on_mixup": [
        0.025, 0.040625, 0.028125, 0.015625, 0.021875, 0.034375, 0.021875, 0.015625,
        0.059375, 0.05625, 0.021875, 0.00625, 0.040625, 0.01875, 0.0125, 0.01875,
    ],
    "frobenius_norms": [
        20.27894051535858, 20.73917338099036, 20.45951377041547, 20.97078017926235,
        21.246332122361387, 21.441236509611503, 21.461142472195128, 21.47860544465646,
        19.793711297514683, 20.375969353305496, 20.286450774404717, 20.598381369435806,
        19.96458072930485, 20.37963463386867, 20.353513221831886, 20.62280652119118,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A directory as `pgdl demo` and `pgdl run` leave it."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pgdl", "demo", str(folder)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    models = [f"model_{4 * n + filters}" for n in range(8) for filters in (0, 1)]
    with Records(str(folder / "results.db")) as records:
        for submission, values in VALUES.items():
            for row in rows(submission, dict(zip(models, values, strict=True)), task=TASK):
                records.add(row)
    return folder


@pytest.mark.parametrize("section", sections("api.md"), ids=lambda section: section.heading)
def test_the_code_runs_and_prints_what_the_page_says(section: Section, demo: Path, monkeypatch: pytest.MonkeyPatch):
    if section.missing:
        pytest.skip(f"not installed: {', '.join(section.missing)}")
    monkeypatch.chdir(demo)
    for printed, said in run(section):
        assert printed == said
