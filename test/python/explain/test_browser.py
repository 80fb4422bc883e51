"""Pages in a browser: at a desktop's width and a phone's, light and dark, by keyboard."""

from __future__ import annotations

import importlib.util
import os
import re
import struct
import sys
from pathlib import Path

import numpy as np
import planted
import pytest
import sampled
from reference import sim_only

import tile
import tile.language as tl
import tile.pages
import tile.sim
from tile.explain import explain, watch_launches
from tile.explain.compare import compare_all
from tile.explain.explanation import plain
from tile.explain.page import render_page
from tile.explain.stalls import read_samples

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
sys.path.append(str(SCRIPTS))  # Where `draw_trace` is.
spec = importlib.util.spec_from_file_location("pictures", SCRIPTS / "pictures.py")
pictures = importlib.util.module_from_spec(spec)
sys.modules["pictures"] = pictures
spec.loader.exec_module(pictures)

pytestmark = [
    pytest.mark.slow,
    sim_only,
    pytest.mark.nvidia("pages show what these GPUs have"),
    pytest.mark.skipif(pictures.find_browser() is None, reason="no browser"),
]

#: For each element with a text of its own: the contrast of its colour with what lies behind it.
CONTRAST = """
() => {
  const part = (c) => { c /= 255; return c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const worst = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.offsetParent || element.closest("svg, script, style")) continue;
    const layers = [];
    for (let e = element; e; e = e.parentElement)
      layers.unshift(getComputedStyle(e).backgroundColor);
    const back = over(["white", ...layers]);
    const text = over(["white", ...layers, getComputedStyle(element).color]);
    const [a, b] = [light(back), light(text)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) worst.push([ratio, element.outerHTML.slice(0, 120)]);
  }
  return worst;
}
"""


@tile.jit
def everybody_stores(out):
    tl.store(out, tl.program_id(0))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = os.environ.get("TILE_TEST_SCREENSHOTS") or tmp_path_factory.mktemp("pages")
    os.makedirs(folder, exist_ok=True)
    with watch_launches() as launched:
        planted.run_product(planted.product_by_descriptors, np.float16)
        planted.run_strided(8)
    texts = {one.kernel.name: render_page(explain(one)) for one in launched}
    with pytest.raises(tile.sim.SimulationError) as caught:
        everybody_stores.simulate(np.zeros(1, np.int32), grid=(2,))
    texts["simulator"] = caught.value.report.html()
    sampled_lines = {
        line: {"stalled_long_scoreboard": 70, "stalled_barrier": 20, "stalled_wait": 7, "other": 3}
        for line in range(planted.strided.fn.__code__.co_firstlineno, 30)
    }
    profile = sampled.write(
        Path(folder, "stalls.hatchet"), sampled.kernel("strided", planted.__file__, sampled_lines)
    )
    stalled = explain(launched[1], read_samples(profile)["strided"])
    texts["stalls"] = render_page(stalled)
    both = [plain(explain(one).to_dict()) for one in launched]
    found = compare_all(both[:1], both[1:], None)
    texts["compare"] = tile.pages.render("compare.html.j2", title="A and B", found=found)
    for name, text in texts.items():
        with open(os.path.join(folder, f"{name}.html"), "w", encoding="utf-8") as file:
            file.write(text)
    return folder


@pytest.fixture(scope="module")
def browser():
    with pictures.open_browser() as browser:
        yield browser


@pytest.mark.parametrize(
    "name", ["product_by_descriptors", "strided", "simulator", "stalls", "compare"]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width, height", [(1280, 900), (390, 844)])
def test_a_page_fits_and_can_be_read(name, scheme, width, height, browser, pages):
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: complaints.append(request.url) if "file:" not in request.url else None,
    )
    page.goto(f"file://{pages}/{name}.html")
    for details in page.locator("summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    page.screenshot(path=f"{pages}/{name}-{width}-{scheme}.png", full_page=True)
    assert complaints == []
    context.close()


def test_keys_choose_lines_and_stages(browser, pages):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"file://{pages}/strided.html")
    line = page.locator("tr[data-k]", has_text="# strided")
    line.focus()
    page.keyboard.press("Enter")
    assert "tt.load" in " ".join(page.locator("#stage-ttir .chosen").all_text_contents())
    page.locator("#tab-ttir").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator("#stage-ptx").is_visible() and not page.locator("#stage-ttir").is_visible()
    loads = page.locator("#stage-ptx .chosen", has_text="ld.global")
    assert loads.count() >= 1 and loads.first.is_visible()
    # And back: a line of the assembly leads to the source.
    store = page.locator("#stage-ptx [data-k]", has_text="st.global").first
    store.click()
    assert "tl.store" in " ".join(page.locator("tr.chosen").all_text_contents())
    page.keyboard.press("ArrowUp")
    assert page.locator("#stage-ptx .chosen").count() >= 1
    page.close()


def test_findings_lead_to_their_lines_and_back(browser, pages):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"file://{pages}/simulator.html")
    page.locator("#finding-1 a").first.click()
    assert "tl.store(out, tl.program_id(0))" in page.locator("tr.chosen").inner_text()
    assert page.locator("tr.chosen").is_visible()
    page.locator("tr.note a").first.click()
    assert page.url.endswith("#finding-1")
    page.close()


def test_the_reproducer_is_saved(browser, pages):
    page = browser.new_page()
    page.goto(f"file://{pages}/strided.html")
    with page.expect_download() as download:
        page.click("#save")
    assert download.value.suggested_filename == "strided_again.py"
    text = open(download.value.path(), encoding="utf-8").read()
    compile(text, "strided_again.py", "exec")
    page.close()


def test_the_theme_can_be_chosen(browser, pages):
    page = browser.new_page(color_scheme="light")
    page.goto(f"file://{pages}/strided.html")
    color = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(color)
    page.click("#theme")
    assert page.evaluate(color) != before
    page.click("#theme")
    assert page.evaluate(color) == before
    page.close()


def test_notes_can_be_read_without_scrolling(browser, pages):
    """The source may be wider than its pane; what was found there is not."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"file://{pages}/strided.html")
    pane = page.locator(".scroll.code").first.bounding_box()
    notes = page.locator("tr.note div").all()
    assert notes
    for note in notes:
        box = note.bounding_box()
        assert box["x"] + box["width"] <= pane["x"] + pane["width"] + 1
    page.close()


def test_the_pictures_of_the_howto_are_made_again(browser, tmp_path):
    """The same names as the pages have, at the widths that the script says."""
    named = []
    for page in ("explain-a-kernel.md", "profile-a-kernel.md"):
        text = (SCRIPTS.parent / "docs/howto" / page).read_text()
        named += re.findall(r"\]\(images/([\w-]+)\.png\)", text)
    assert sorted(named) == sorted(picture.name for picture in pictures.PICTURES)
    pictures.write_pages(tmp_path)
    pictures.write_profiles(tmp_path)
    # What the page says of them.
    assert "6020.000 step 1" in (tmp_path / "profile-tree.html").read_text()
    assert "wait: ld" in (tmp_path / "profile-warps.html").read_text()
    assert ">load</div>" in (tmp_path / "profile-scopes.html").read_text()
    for picture in pictures.PICTURES:
        pictures.take(browser, picture, tmp_path, tmp_path)
        for folder in (tmp_path, pictures.IMAGES):
            head = (folder / f"{picture.name}.png").read_bytes()[:24]
            assert struct.unpack(">II", head[16:24]) == picture.size
