"""Owner tables: the picture of a layout, against layouts whose owners are known."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tile.cli import main
from tile.tools.layout import OwnerTable, render_svg, render_text

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [2, 1], order = [1, 0]}>"
)


@dataclass
class FakeLayout:
    bases: dict[str, list[list[int]]]
    out_dims: dict[str, int] = field(default_factory=dict)


SMALL = FakeLayout(
    {"register": [[0, 1]], "lane": [[1, 0]], "warp": [[0, 0]], "block": []},
    {"dim0": 2, "dim1": 2},
)


def test_owners_of_each_element() -> None:
    table = OwnerTable(SMALL)
    assert [str(owner) for owner in table.owners[1, 0]] == ["T1:0", "T3:0"]
    assert table.cell((0, 1)) == "T0:1|T2:1"
    assert table.cell((0, 1), limit=1) == "T0:1|+1"


def test_text_table() -> None:
    assert render_text(SMALL) == (
        "2x2 elements over 2 registers, 2 lanes, 2 warps; each cell is thread:register\n"
        "          0         1\n"
        "0 T0:0|T2:0 T0:1|T2:1\n"
        "1 T1:0|T3:0 T1:1|T3:1\n"
    )


def test_one_and_three_dimensions() -> None:
    row = FakeLayout({"offset": [[2], [1]], "block": [[0]]}, {"dim0": 4})
    assert render_text(row).splitlines()[2:] == ["0 B0.0|B1.0 B0.2|B1.2 B0.1|B1.1 B0.3|B1.3"]
    cube = FakeLayout({"offset": [[0, 0, 1], [1, 0, 0]]}, {"dim0": 2, "dim1": 1, "dim2": 2})
    assert render_text(cube).splitlines()[1:] == [
        "[0, :, :]",
        "  0 1",
        "0 0 1",
        "[1, :, :]",
        "  0 1",
        "0 2 3",
    ]


def test_elements_that_nobody_owns() -> None:
    gap = FakeLayout({"offset": [[1]]}, {"dim0": 4})
    assert render_text(gap).splitlines()[-1] == "0 0 1 - -"


def test_svg_is_well_formed() -> None:
    root = ET.fromstring(render_svg(SMALL))
    name = "{http://www.w3.org/2000/svg}"
    groups = root.findall(f"{name}g")
    assert len(groups) == 4
    assert [g.find(f"{name}text").text for g in groups[:2]] == ["T0:0|T2:0", "T0:1|T2:1"]
    # Different lanes differ in colour.
    fills = [g.find(f"{name}rect").get("fill") for g in groups]
    assert fills[0] == fills[1] != fills[2]


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["layout", BLOCKED, "--shape", "8x16"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:5] == ["0", "T0:0", "T0:1", "T1:0", "T1:1"]
    assert lines[6].split()[1] == "T32:0"
    assert main(["layout", BLOCKED, "--shape", "8x16", "--format", "bases"]) == 0
    assert " - lane=8 -> (1, 0)" in capsys.readouterr().out
    picture = tmp_path / "layout.svg"
    assert main(["layout", BLOCKED, "--shape", "8x16", "--format", "svg", "-o", str(picture)]) == 0
    ET.parse(picture)


def test_command_takes_types(capsys: pytest.CaptureFixture[str]) -> None:
    shared = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
    assert main(["layout", f"!ttg.memdesc<2x4xf16, {shared}, #ttg.shared_memory>"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["0 0 1 2 3", "1 6 7 4 5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([BLOCKED], "an encoding needs a shape"),
        ([BLOCKED, "--shape", "8"], "encoding of rank 2 does not fit a shape of rank 1"),
        (["#ttg.nothing<{}>", "--shape", "8"], "unknown attribute `nothing`"),
        (["tensor<8xf32>"], "expected a tensor with an encoding"),
        ([f"tensor<8x16xf32, {BLOCKED}>", "--shape", "8x16"], "a type has a shape of its own"),
    ],
)
def test_command_explains(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["layout", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("tile: error: ")
    assert message in error


def test_bad_shape(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["layout", BLOCKED, "--shape", "8x12"]) == 2
    assert "'8x12' is no shape; expected powers of two" in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["layout", BLOCKED, "--shape", "8x16", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["shape"].values()) == [8, 16]
    assert found["bases"]["lane"][3] == [1, 0]
