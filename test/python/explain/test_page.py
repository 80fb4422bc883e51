"""What is on the page of a kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import planted
import pytest
from reference import sim_only

import tile.pages
from tile.errors import TileError
from tile.explain import explain, locations, watch_launches
from tile.explain.page import render_page
from tile.explain.reproducer import reproducer

pytestmark = [sim_only, pytest.mark.nvidia("pages show what these GPUs have")]


class Elements(HTMLParser):
    """The elements of a page by their classes and ids; checks that what opens is closed."""

    VOID = frozenset({"meta", "br", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.starts: list[tuple[str, dict]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.starts.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.starts.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag: str, **attributes: str) -> list[dict]:
        return [
            found
            for name, found in self.starts
            if name == tag and all(found.get(k.strip("_")) == v for k, v in attributes.items())
        ]


def explanation_of(run):
    with watch_launches() as launched:
        run()
    return explain(launched[0])


#: Of a dot in the stages `ttgir`, `llir` and `ptx`, by the generation of GPUs that has such dots.
_DOTS = {
    9: ("warp_group_dot ", "wgmma.mma_async", "wgmma.mma_async"),
    10: ("tc_gen5_mma ", "tcgen05.mma.", "tcgen05.mma."),
}
_OTHER_DOTS = ("tt.dot ", "nvvm.mma.", "mma.sync.")


def arch() -> int:
    return tile.runtime.driver.active.get_current_target().arch


@pytest.fixture(scope="module")
def product():
    return explanation_of(lambda: planted.run_product(planted.product_by_descriptors, np.float16))


def test_a_page_is_whole_and_loads_nothing(product):
    page = render_page(product)
    elements = Elements(page)
    for _, attributes in elements.starts:
        assert not attributes.get("src")
        assert attributes.get("href", "#").startswith("#")
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", page)
    ids = [attributes["id"] for _, attributes in elements.starts if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for a in elements.all("a") if a.get("href")}
    assert targets <= set(ids)


def test_all_stages_are_there_and_lines_are_linked_both_ways(product):
    elements = Elements(render_page(product))
    tabs = [a["id"] for a in elements.all("button", role="tab")]
    assert tabs[:4] == ["tab-ttir", "tab-ttgir", "tab-llir", "tab-ptx"]
    source = {a["data-k"] for a in elements.all("tr") if "data-k" in a}
    stages = {k for a in elements.all("div") if "data-k" in a for k in a["data-k"].split()}
    assert stages and stages <= source  # Each line of a stage leads to a line of a source.
    assert source <= stages


def test_stages_say_where_their_lines_come_from(product):
    """The line of the dot is found in the text of each stage."""
    line = next(
        i for i, text in enumerate(open(planted.__file__), 1) if "a_tiles.load([0, k])" in text
    )
    dots = _DOTS.get(arch() // 10, _OTHER_DOTS)
    patterns = dict(zip(("ttir", "ttgir", "llir", "ptx"), ("tt.dot", *dots), strict=True))
    for name, pattern in patterns.items():
        stage = product.stage(name)
        found = [
            places
            for text, places in zip(stage.text.splitlines(), stage.places, strict=True)
            if pattern in text and not text.startswith("declare")
        ]
        assert found, name
        assert all((planted.__file__, line) in places for places in found), name


def test_drawings(product):
    if arch() < 90:
        pytest.skip("nothing waits at an mbarrier there")
    page = render_page(product)
    elements = Elements(page)
    drawn = [a["aria-label"] for a in elements.all("svg")]
    assert "roofline" in drawn and "occupancy" in drawn and "schedule of a loop" in drawn
    assert "shared memory over time" in drawn and "timeline of the first block" in drawn
    assert "rings of buffers and barriers" in drawn
    assert any(label.startswith("layout tensor<") for label in drawn)
    assert any(label.startswith("layout !ttg.memdesc<") for label in drawn)
    assert "mbarrier at" in page


@pytest.mark.parametrize("target", ["cuda:80", "cuda:100", "cuda:120", "hip:gfx942"])
def test_pages_of_other_targets(target, monkeypatch):
    """Each has kinds of memory and layouts that others have not."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    explanation = explanation_of(lambda: planted.run_product(planted.product, np.float16))
    assert Elements(render_page(explanation)).all("svg")
    if target == "cuda:100":
        assert "ttnvgpu.tensor_memory" in explanation.stage("ttgir").text


@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"])
def test_warps_of_partitions_are_not_doubled(target, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    with watch_launches() as launched:
        planted.run_product(planted.specialized_product, np.float16)
    explanation = explain(launched[0])
    assert "ttg.warp_specialize" in explanation.stage("ttgir").text
    assert explanation.launched.kernel.num_warps == launched[0].kernel.num_warps == 8


def test_what_is_missing_is_said(product):
    sass = product.stage("sass")
    if sass.text:
        pytest.skip("there is a disassembler")
    assert "There is no text: machine code is printed by nvdisasm or cuobjdump" in render_page(
        product
    )


#: As nvdisasm prints it with -gi.
MACHINE_CODE = """
.text.k:
\t//## File "/a/kernel.py", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/a/helper.py", line 4 inlined at "/a/kernel.py", line 9
\t//## File "/a/kernel.py", line 9
        /*0010*/                   S2R R11, SR_TID.X ;
        /*0020*/                   EXIT ;
.L_x_1:
"""


def test_lines_of_machine_code():
    helper, call = ("/a/helper.py", 4), ("/a/kernel.py", 9)
    found = locations.of_machine_code(MACHINE_CODE)
    assert [places for places in found if places] == [
        [("/a/kernel.py", 7)], [helper, call], [helper, call],
    ]  # fmt: skip
    assert len(found) == len(MACHINE_CODE.splitlines())


def test_names_and_sources_are_escaped():
    explanation = explanation_of(lambda: planted.run_masked(512))
    explanation.arguments = ["<b>&"]
    page = render_page(explanation)
    assert "<b>" not in page and "&lt;b&gt;&amp;" in page


def test_the_reproducer_compiles_the_kernel_again(product, tmp_path):
    path = tmp_path / "again.py"
    path.write_text(reproducer(product))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"product_by_descriptors cuda:{arch()}")
    instruction = _DOTS.get(arch() // 10, _OTHER_DOTS)[-1]
    wanted = product.stage("ptx").text.count(instruction)
    assert wanted and done.stdout.count(instruction) == wanted


def test_without_jinja2_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    tile.pages._environment.cache_clear()
    with pytest.raises(TileError, match="pip install jinja2"):
        tile.pages.render("base.html.j2", title="")
    monkeypatch.undo()
    tile.pages._environment.cache_clear()
