"""The layouts of a kernel's tensors and buffers, to be drawn."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from .. import _C
from ..tools.layout import OwnerTable, color_of
from .locations import places_of

#: Layouts that are drawn, the rows and columns of each that are, and the elements it may have.
_MOST_LAYOUTS, _MOST_ROWS, _MOST_COLUMNS, _MOST_ELEMENTS = 8, 16, 32, 1 << 16
#: Of a cell, in the units of the drawing.
CELL_WIDTH, CELL_HEIGHT, MARGIN = 46, 18, 28


@dataclass
class Cell:
    x: int
    y: int
    fill: str
    label: str
    #: Who holds the element, or where it lies; shown when it is pointed at.
    title: str


@dataclass
class Drawing:
    #: The type, as the IR writes it.
    type: str
    #: Source lines whose values have it.
    lines: list[int] = field(default_factory=list)
    legend: str = ""
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    #: What is not drawn, and why.
    note: str = ""

    @property
    def width(self) -> int:
        return MARGIN + CELL_WIDTH * len(self.columns) + 2

    @property
    def height(self) -> int:
        return CELL_HEIGHT * (len(self.rows) + 1) + 2


def _shape(type_text: str) -> list[int]:
    found = re.search(r"<((?:\d+x)+)", type_text)
    return [int(size) for size in found[1].split("x") if size] if found else []


def _bytes_of(type_text: str) -> int:
    """Of an element; a pointer has 8."""
    found = re.search(r"x[a-z]+(\d+)", type_text.split(",")[0])
    return max(1, int(found[1]) // 8) if found and "!tt.ptr" not in type_text else 8


def _title(table: OwnerTable, element: tuple[int, ...], size: int) -> str:
    owners = table.owners.get(element, [])
    if table.is_shared:
        held = ", ".join(f"byte {o.value('offset') * size}" for o in owners[:4])
    else:
        held = ", ".join(
            f"thread {o.thread} (warp {o.value('warp')}, lane {o.value('lane')}) "
            f"register {o.value('register')}"
            for o in owners[:4]
        )
    more = f", and {len(owners) - 4} more" if len(owners) > 4 else ""
    return f"element {list(element)}: {held or 'nobody'}{more}"


def _draw(drawing: Drawing, layout: Any) -> None:
    table = OwnerTable(layout)
    drawing.legend = table.legend()
    leading, rows, columns = next(table.slices())
    drawing.rows = list(range(min(rows, _MOST_ROWS)))
    drawing.columns = list(range(min(columns, _MOST_COLUMNS)))
    if len(drawing.rows) < rows or len(drawing.columns) < columns or leading:
        drawing.note = (
            f"The first {len(drawing.rows)} rows and {len(drawing.columns)} columns are drawn."
        )
    size = _bytes_of(drawing.type)
    for row in drawing.rows:
        for column in drawing.columns:
            element = table.element(leading, row, column)
            owners = table.owners.get(element, [])
            drawing.cells.append(
                Cell(
                    MARGIN + column * CELL_WIDTH,
                    (row + 1) * CELL_HEIGHT,
                    color_of(table, owners[0]) if owners else "#ffffff",
                    table.cell(element, 1).split("|")[0],
                    _title(table, element, size),
                )
            )


def draw_layouts(ttgir: str) -> list[Drawing]:
    """The layouts of the values of a module, those that most values have first."""
    context = _C.ir.Context()
    module = _C.ir.Module.parse(ttgir, context)
    found: dict[str, tuple[Any, int, list[int]]] = {}

    def visit(op: Any) -> None:
        for result in op.results:
            text = str(result.type)
            if not re.match(r"tensor<.*#|!ttg.memdesc<", text):
                continue
            # Layouts are alike whatever the elements are; pointers and masks go with the values.
            key = re.sub(r"x(?:!tt\.ptr<[^>]*>|[a-z]\w*), ", "x_, ", text, count=1)
            known = found.get(key)
            line = [n for _, n in places_of(str(op.location))[-1:]]
            if known is None:
                found[key] = (result.type, 1, line)
            else:
                found[key] = (known[0], known[1] + 1, sorted({*known[2], *line}))

    module.operation.walk(visit)
    drawings = []
    by_use = sorted(found.values(), key=lambda item: -item[1])
    for type, _, lines in by_use[:_MOST_LAYOUTS]:
        drawing = Drawing(str(type), lines)
        if math.prod(_shape(drawing.type)) > _MOST_ELEMENTS:
            drawing.note = "It has too many elements to be drawn."
        else:
            try:
                _draw(drawing, _C.layout.from_type(type))
            # Such as padding, which is no linear map, and tensor memory.
            except (ValueError, _C.ir.MLIRError) as error:
                drawing.note = f"It cannot be drawn: {error}."
        drawings.append(drawing)
    return drawings
