"""Tests of docs/api.md: every section runs, and prints what the page says."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from pages import Section, run, sections

from harness.cli.main import main

pytestmark = pytest.mark.rest


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A directory as `pgdl demo` leaves it."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pgdl", "demo", str(folder)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    return folder


@pytest.mark.parametrize("section", sections("api.md")[1:], ids=lambda section: section.heading)
def test_the_code_runs_and_prints_what_the_page_says(section: Section, demo: Path, monkeypatch: pytest.MonkeyPatch):
    if section.missing:
        pytest.skip(f"not installed: {', '.join(section.missing)}")
    monkeypatch.chdir(demo)
    for printed, said in run(section):
        assert printed == said


def test_the_first_section_runs_as_a_notebook(demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a notebook, functions have other source files and modules than in a script, and output has other streams."""
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
