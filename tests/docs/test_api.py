"""docs/api.md: every section runs, and prints what the page says."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from pages import Section, run, sections

from harness.cli.main import main
from harness.records import Records
from tests.board.board_examples import rows

pytestmark = pytest.mark.rest

TASK = "digits_nin_small"

#: Values of the example submissions for the models of `pgdl demo`, in their order.
VALUES = {
    "error_on_mixup": [
        0.040625, 0.00625, 0.04375, 0.015625, 0.046875, 0.05, 0.01875, 0.01875,
        0.040625, 0.009375, 0.021875, 0.034375, 0.0375, 0.025, 0.0125, 0.03125,
    ],
    "frobenius_norms": [
        20.654829655560704, 20.767653072244293, 20.98886992547814, 20.963312822174572, 21.498936791058316,
        21.458852730767475, 21.388081825410566, 21.606744499413633, 19.887746412536938, 20.474365167190356,
        20.355671461063558, 20.608938067958427, 20.201367825584427, 20.387587451865787, 20.552881154187205,
        20.796438472764954,
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


@pytest.mark.parametrize("section", sections("api.md")[1:], ids=lambda section: section.heading)
def test_the_code_runs_and_prints_what_the_page_says(section: Section, demo: Path, monkeypatch: pytest.MonkeyPatch):
    if section.missing:
        pytest.skip(f"not installed: {', '.join(section.missing)}")
    monkeypatch.chdir(demo)
    for printed, said in run(section):
        assert printed == said


def test_the_first_section_runs_as_a_notebook(demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Differences of the page's environment: the source of a function, its module, and the streams of output."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "agg")
    (demo / "notebook.db").unlink(missing_ok=True)  # of other sections
    section = sections("api.md")[0]
    cells = [nbformat.v4.new_code_cell(text) for language, text in section.blocks if language == "python"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(demo)}}).execute()
    printed = [
        "".join(output.text for output in cell.outputs if output.get("name") == "stdout") for cell in notebook.cells
    ]
    assert printed == [text for language, text in section.blocks if language == "text"]
