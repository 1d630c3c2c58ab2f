"""Tests of the Markdown files: their links, lines and imports, and the site that `make docs` builds."""

import re
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import baselines
import pgdl

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for pattern in ("*.md", "docs/*.md", "submissions/*.md", "task_data/*.md") for path in ROOT.glob(pattern)
)
SITE = runpy.run_path(str(ROOT / "docs" / "conf.py"))


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the page's headings, as GitHub and the site form them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_anchors_lines_tables_and_imports_of_a_page(page: Path) -> None:
    """Lines of tables and pictures cannot be wrapped; torchvision crashes if TensorFlow is imported before it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        assert linked.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors(linked), target
    lines = prose(page).splitlines()
    assert [line for line in lines if len(line) > 120 and not re.match(r" *(\||!\[)", line)] == []
    assert [after for line, after in pairwise(lines) if line.startswith("|") and after and after[0] != "|"] == []
    for block in re.findall(r"^ *```python\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL):
        names = re.findall(r"^ *(?:import|from) (keras|tensorflow|torch|torchvision)\b", block, re.MULTILINE)
        assert names == sorted(names, key=lambda name: not name.startswith("torch")), names


def test_a_model_of_pytorch_does_not_bring_tensorflow_into_the_process() -> None:
    code = (
        "import sys, pgdl\n"
        "try: pgdl.measure('num_params')(object(), ([[0.0]], [0]))\n"
        "except pgdl.UserError as error: print(error)\n"
        "print('tensorflow' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "model: expected a Keras model or a torch.nn.Module, found object\nFalse\n"


def test_every_page_is_in_the_navigation_once() -> None:
    listed = ["README", *(page for pages in SITE["PAGES"].values() for page in pages)]
    assert sorted(listed) == sorted(page.relative_to(ROOT).with_suffix("").as_posix() for page in PAGES)


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    documented = set(re.findall(r"^\.\. (?:auto)?[a-z]+:: (?:[\w.]+\.)?(\w+)$", page, re.MULTILINE))
    assert set(dir(pgdl)) - {"scoring"} <= documented
    assert set(baselines.__all__) <= documented
    assert ".. automodule:: scoring\n" in page
