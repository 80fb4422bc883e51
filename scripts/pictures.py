#!/usr/bin/env python3
"""Makes the pictures of two pages of docs/howto again, with a headless browser.

    .venv/bin/python scripts/pictures.py [FOLDER]

Explains two examples, opens the pages and takes pictures of parts of them, at the width of a
desktop and of a phone. Profiles another one, draws its traces and the tree that the viewer prints.
The browser is Debian's (`scripts/debian-packages.txt`); playwright drives it. Without a folder,
those of the repository are replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import draw_trace

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "howto" / "images"
#: Programs that the browser may be.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DESKTOP, PHONE = (1280, 760), (390, 760)
#: The examples that are explained, and the target.
PROGRAMS = ("kernels_to_explain.py", "matmul.py")
TARGET = "cuda:90"
#: The example that is profiled.
PROFILED = "examples/kernels_to_profile.py"


class Picture(NamedTuple):
    name: str
    page: str
    size: tuple[int, int]
    #: What is at the top of the picture; the head of the page if it is empty.
    part: str = ""
    #: What is done before.
    prepare: Callable[[Any], None] = lambda page: None


def choose_line(page: Any) -> None:
    """Marks what comes from the load, and shows the assembly."""
    page.locator("tr[data-k]", has_text="tl.load").first.click()
    page.locator("#tab-ptx").click()


def open_tile(page: Any) -> None:
    """Draws the layout of the tile that is loaded."""
    page.locator("#layouts ~ details[open] summary").first.click()
    page.locator("#layouts ~ details summary", has_text="128x32x").first.click()


PICTURES = (
    Picture("explain-findings", "explain-column_sums", DESKTOP),
    Picture("explain-source", "explain-column_sums", DESKTOP, "#source", choose_line),
    Picture("explain-layouts", "explain-column_sums_coalesced", DESKTOP, "#layouts", open_tile),
    Picture("explain-memory", "explain-matmul_kernel", DESKTOP, "#memory"),
    Picture("explain-phone", "explain-column_sums", PHONE),
    Picture("profile-tree", "profile-tree", (640, 280)),
    Picture("profile-launches", "profile-launches", (1260, 180)),
    Picture("profile-warps", "profile-warps", (1260, 330)),
    Picture("profile-scopes", "profile-scopes", (1260, 330)),
)


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """The browser that is there. Raises RuntimeError where there is none."""
    path = find_browser()
    if path is None:
        raise RuntimeError(f"no browser: none of {', '.join(BROWSERS)} is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        # As root, which containers are, the browser has no sandbox.
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def write_pages(folder: Path) -> None:
    for program in PROGRAMS:
        command = [sys.executable, "-m", "tile", "explain", "--target", TARGET]
        command += ["-o", str(folder / "explain.html"), f"examples/{program}"]
        subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)


def profile(folder: Path, name: str, *options: str) -> Path:
    """A profile of the example, without its suffix."""
    command = [
        sys.executable,
        "-m",
        "tile",
        "profile",
        "-n",
        str(folder / name),
        *options,
        PROFILED,
    ]
    environment = {**os.environ, "TILE_SIM_TARGET": TARGET}
    subprocess.run(command, cwd=ROOT, check=True, env=environment, stdout=subprocess.DEVNULL)
    return folder / name


def write_profiles(folder: Path) -> None:
    """Pages of what `tile profile` and `tile view` make."""
    tree = profile(folder, "run").with_suffix(".hatchet")
    command = [sys.executable, "-m", "tile", "view", "-m", "cycles", str(tree)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pages = {"tree": draw_trace.text_page("tile view -m cycles run.hatchet", text)}
    trace = json.loads(
        profile(folder, "run", "-d", "trace").with_suffix(".chrome_trace").read_text()
    )
    pages["launches"] = draw_trace.page(
        trace, "run.chrome_trace, the second step", 2, during="step 1"
    )
    pages["warps"] = draw_trace.page(
        trace, "run.chrome_trace, during the first launch of `product`", 8, during="product"
    )
    inside = ("-d", "trace", "-b", "instrumentation", "-m", "default:granularity=warp")
    trace = json.loads(profile(folder, "run", *inside).with_suffix(".chrome_trace").read_text())
    pages["scopes"] = draw_trace.page(
        trace, "run.chrome_trace of -b instrumentation, the first launch", 8, length=5.1
    )
    for name, page in pages.items():
        (folder / f"profile-{name}.html").write_text(page)


def take(browser: Any, picture: Picture, pages: Path, folder: Path) -> None:
    width, height = picture.size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="light", offline=True
    )
    page = context.new_page()
    page.goto(f"file://{pages / picture.page}.html")
    picture.prepare(page)
    if picture.part:
        page.locator(picture.part).evaluate("e => e.scrollIntoView({ block: 'start' })")
    page.screenshot(path=folder / f"{picture.name}.png")
    context.close()


def draw(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tile-pictures-") as pages, open_browser() as browser:
        write_pages(Path(pages))
        write_profiles(Path(pages))
        for picture in PICTURES:
            take(browser, picture, Path(pages), folder)
            print(f"{folder / picture.name}.png")


if __name__ == "__main__":
    os.environ["TILE_DRIVER"] = "sim"
    try:
        draw(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
    except RuntimeError as error:
        sys.exit(f"pictures: {error}")
