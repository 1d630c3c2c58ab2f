"""Tests of docs/your-own-models.md: its code runs in the order of the page, and prints what the page says."""

import pytest
from pages import run, sections

SECTIONS = {section.heading: section for section in sections("your-own-models.md")}


@pytest.mark.rest
@pytest.mark.parametrize("heading", SECTIONS)
def test_the_page(heading, tmp_path, monkeypatch):
    section = SECTIONS[heading]
    if section.missing:
        pytest.skip(f"not installed: {', '.join(section.missing)}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    for printed, said in run(section):
        assert printed == said
