"""The site that scripts/site.sh builds: its links lead somewhere, and its pages fit a screen."""

from __future__ import annotations

import functools
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pages import ROOT, load_script

SITE = ROOT / "build" / "site"
PAGES = [page.relative_to(SITE).as_posix() for page in sorted(SITE.rglob("*.html"))]
#: The widths of a desktop and of a phone.
WIDTHS = (1280, 390)

pytestmark = pytest.mark.skipif(not PAGES, reason="scripts/site.sh has not built the site")


class Page(HTMLParser):
    """What a page refers to, and which places of it others may refer to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.ids.add(value)


@functools.cache
def read(page: Path) -> Page:
    return Page(page.read_text())


def broken(page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return True
    named = unquote(parts.fragment)
    return bool(named) and target.suffix == ".html" and named not in read(target).ids


def test_links_lead_to_what_is_there():
    found = [(page, link) for page in PAGES for link in read(SITE / page).links
             if broken(SITE / page, link)]  # fmt: skip
    assert found == []


def test_a_link_to_nowhere_is_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<p id="a"><a href="#a"><a href="page.html#b"><img src="c.png"></p>')
    assert [link for link in read(page).links if broken(page, link)] == ["page.html#b", "c.png"]


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    sys.path.append(str(ROOT / "scripts"))  # Where `draw_trace` is.
    pictures = load_script("pictures")
    if pictures.find_browser() is None:
        pytest.skip("no browser")
    with pictures.open_browser() as opened:
        yield opened


def pages_to_open() -> list[str]:
    names = [page.removesuffix(".html") for page in PAGES]
    return [name for name in names if not re.search(r"^(genindex|search)$", name)]


@pytest.mark.slow
@pytest.mark.parametrize("name", pages_to_open())
def test_a_page_fits_and_loads_nothing_from_elsewhere(name, browser):
    complaints: list[str] = []
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(f"file://{SITE}/{name}.html")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        # Tables and programs that are wider scroll by themselves.
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        if folder := os.environ.get("TILE_TEST_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/{name.replace('/', '-')}-{width}.png")
    missing = "[...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)"
    assert page.evaluate(missing) == []
    assert complaints == []
    context.close()
