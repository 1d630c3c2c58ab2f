"""Provides a site, and a real browser; tests of the browser are skipped without it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from site_examples import make, make_long

from harness.site import SiteData, write_site

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> SiteData:
    return make(tmp_path_factory.mktemp("reference"))[0]


@pytest.fixture(scope="session")
def unchanged(data: SiteData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("unchanged") / "site"
    write_site(data, site)
    return site


@pytest.fixture
def site(unchanged: Path, tmp_path: Path) -> Path:
    """The directory of a site that the test may change."""
    return Path(shutil.copytree(unchanged, tmp_path / "site"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of the browser; the test fails if the page reports an error, or requests anything but files."""
    page = browser.new_page()
    page.set_default_timeout(20_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: None if request.url.startswith("file:") else errors.append(request.url))
    yield page
    page.close()
    assert errors == []


@pytest.fixture
def scriptless(browser: Any) -> Iterator[Any]:
    """A page of a browser that runs no scripts."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a site whose board is longer and wider than a window."""
    directory = tmp_path_factory.mktemp("long")
    write_site(make_long(directory / "reference"), directory / "site")
    return f"file://{directory}/site"
