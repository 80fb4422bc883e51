"""The drawing of the gallery has each figure of the page."""

from __future__ import annotations

import importlib.util
import re

from pages import DOCS, ROOT

spec = importlib.util.spec_from_file_location("gallery", ROOT / "scripts" / "gallery.py")
gallery = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery)


def test_every_measured_example_is_drawn():
    page = (DOCS / "gallery.md").read_text()
    found = gallery.figures(page)
    assert len(found) == len(re.findall(r"(?:GB/s|TFLOP/s) \(", page)) >= 9
    text = (DOCS / "generated" / "gallery.svg").read_text()
    assert text == gallery.draw(found), "run scripts/docs.sh"
    widths = [int(w) for w in re.findall(r'<rect[^>]* width="(\d+)"', text)]
    for one, ours, other in zip(found, widths[::2], widths[1::2], strict=True):
        assert max(ours, other) == gallery.WIDTH
        assert abs(ours / other - one.value / one.reference) < 0.02 * ours / other
