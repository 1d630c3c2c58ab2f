"""Tests of docs/your-own-models.md: its code runs in the order of the page, and prints what the page says."""

import pytest
from pages import require_stated, sections


@pytest.mark.rest
@pytest.mark.parametrize("section", sections("your-own-models.md"), ids=lambda section: section.heading)
def test_the_page(section, tmp_path, monkeypatch, zygotes):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    with zygotes.used():
        require_stated(section)
