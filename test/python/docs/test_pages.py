"""Pages: their links lead somewhere, and the site has all of them."""

from __future__ import annotations

import re
import subprocess

import pytest
from pages import DOCS, ROOT

LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.S | re.M)


def pages() -> list:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return [ROOT / name for name in listed if (ROOT / name).exists()]


def anchor(heading: str) -> str:
    """The name that code hosts and the site give to a heading."""
    heading = LINK.sub(lambda link: link[0][1 : link[0].index("]")], heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    return {anchor(h) for h in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.M)}


def broken(page, text: str) -> list[str]:
    found = []
    for target in LINK.findall(re.sub(r"(`+)[^\n]*?\1", "", FENCE.sub("", text))):
        if re.match(r"\w+:", target):
            continue
        name, _, heading = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            found.append(target)
        elif heading and heading not in anchors(text if not name else file.read_text()):
            found.append(target)
    return found


def test_links_lead_somewhere():
    found = {str(page.relative_to(ROOT)): broken(page, page.read_text()) for page in pages()}
    assert {page: links for page, links in found.items() if links} == {}


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("docs/install.md", False),
        ("docs/install.md#as-a-wheel", False),
        ("#here-it-is", False),
        ("https://example.org/nowhere", False),
        ("docs/nowhere.md", True),
        ("docs/install.md#nowhere", True),
        ("#nowhere", True),
    ],
)
def test_a_broken_link_is_found(link, is_broken):
    text = f"# Here `it` is\n\n[name]({link})\n\n```\n[no link](nowhere)\n```\n``x[i](y)``\n"
    assert broken(ROOT / "README.md", text) == ([link] if is_broken else [])


def test_the_site_has_every_page():
    """The tables of contents name each page once."""
    named = []
    for page in DOCS.rglob("*.md"):
        for contents in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.S):
            names = [line for line in contents.splitlines() if line and not line.startswith(":")]
            # A page that is named does not come again with the others of its folder.
            named += {file for name in names for file in page.parent.glob(f"{name}.md")}
    there = [page for page in DOCS.rglob("*.md") if page != DOCS / "index.md"]
    assert sorted(named) == sorted(there)


#: Pages for people who work on the compiler, and the glossary itself, which names other words.
NOT_FOR_USERS = {"architecture.md", "building.md", "testing.md", "glossary.md"}

#: Other words for what the glossary has a word for.
NOT_OUR_WORDS = {
    r"\bthe peer\b": "Triton",
    r"\blying along\b|\blies? along\b": "contiguous along",
    r"\bneeds? all threads to meet\b": "synchronise",
    r"\bmatrix products?\b": "matmul or dot",
}


def words_of(page) -> str:
    """The text of a page without code and without links."""
    return re.sub(r"(`+).*?\1", "", FENCE.sub("", LINK.sub("", page.read_text())))


USER_PAGES = sorted(
    page
    for page in (*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"))
    if page.name not in NOT_FOR_USERS
)


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda page: page.stem)
def test_pages_use_the_words_of_the_glossary(page):
    text = words_of(page)
    found = {m[0]: use for w, use in NOT_OUR_WORDS.items() for m in re.finditer(w, text, re.I)}
    assert found == {}
