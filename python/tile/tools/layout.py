"""Show which thread owns which element of a tensor, or where it lies in shared memory.

    tile layout '#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16],
                 warpsPerCTA = [4, 1], order = [1, 0]}>' --shape 32x64
    tile layout '!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{...}>, #ttg.shared_memory>' --format svg

The layout is given by an encoding and a shape, or by a type that has both.
"""

from __future__ import annotations

import colorsys
import html
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["OwnerTable", "color_of", "load_layout", "render_svg", "render_text", "to_dict"]

#: Owners of one element that a cell names before it only counts the rest.
_MAX_NAMED_OWNERS = 2


class Layout(Protocol):
    """What is read of a `tile._C.layout.LinearLayout`."""

    @property
    def bases(self) -> Mapping[str, Sequence[Sequence[int]]]: ...

    @property
    def out_dims(self) -> Mapping[str, int]: ...


@dataclass(frozen=True)
class Owner:
    """One place that holds an element."""

    index: tuple[tuple[str, int], ...]
    threads_per_warp: int
    show_block: bool

    def __str__(self) -> str:
        index = dict(self.index)
        block = f"B{index['block']}." if self.show_block else ""
        if "offset" in index:
            return f"{block}{index['offset']}"
        return f"{block}T{self.thread}:{index['register']}"

    @property
    def thread(self) -> int:
        """The number of the thread in its block; 0 for shared memory."""
        index = dict(self.index)
        return index.get("warp", 0) * self.threads_per_warp + index.get("lane", 0)

    def value(self, dim: str) -> int:
        """The index along one in dim; 0 if there is no such dim."""
        return dict(self.index).get(dim, 0)


class OwnerTable:
    """For each element of a tensor, the places that hold it, in order."""

    def __init__(self, layout: Layout) -> None:
        self.shape: tuple[int, ...] = tuple(layout.out_dims.values())
        bases = layout.bases
        self.is_shared = "offset" in bases
        self.in_sizes = {dim: 1 << len(images) for dim, images in bases.items()}
        threads_per_warp = self.in_sizes.get("lane", 1)
        show_block = self.in_sizes.get("block", 1) > 1
        # Blocks vary slowest, then warps, lanes and registers.
        dims = list(bases)
        sizes = [range(self.in_sizes[dim]) for dim in dims]
        self.owners: dict[tuple[int, ...], list[Owner]] = {}
        for values in itertools.product(*reversed(sizes)):
            index = tuple(zip(dims, reversed(values), strict=True))
            element = [0] * len(self.shape)
            for dim, value in index:
                for bit, image in enumerate(bases[dim]):
                    if value >> bit & 1:
                        element = [a ^ b for a, b in zip(element, image, strict=True)]
            owner = Owner(index, threads_per_warp, show_block)
            self.owners.setdefault(tuple(element), []).append(owner)

    def cell(self, element: tuple[int, ...], limit: int | None = _MAX_NAMED_OWNERS) -> str:
        """The owners of an element, at most `limit` of them by name."""
        owners = self.owners.get(element, [])
        if not owners:
            return "-"
        if limit is None or len(owners) <= limit:
            return "|".join(map(str, owners))
        return "|".join(map(str, owners[:limit])) + f"|+{len(owners) - limit}"

    def slices(self) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """The two-dimensional parts: (leading indices, rows, columns)."""
        padded = (1,) * (2 - len(self.shape)) + self.shape
        for leading in itertools.product(*(range(size) for size in padded[:-2])):
            yield leading, padded[-2], padded[-1]

    def element(self, leading: tuple[int, ...], row: int, column: int) -> tuple[int, ...]:
        """The element at a place of a slice."""
        full = (*leading, row, column)
        return full[len(full) - len(self.shape) :]

    def legend(self) -> str:
        """One line that says what the cells mean."""
        counted = [(dim, size) for dim, size in self.in_sizes.items() if dim != "block" or size > 1]
        sizes = ", ".join(f"{size} {dim}{'s' * (size > 1)}" for dim, size in counted)
        shape = "x".join(map(str, self.shape))
        cell = "offset in elements" if self.is_shared else "thread:register"
        if self.in_sizes.get("block", 1) > 1:
            cell = "block." + cell
        return f"{shape} elements over {sizes}; each cell is {cell}"


def _slice_title(leading: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, leading)) + ", :, :]"


def render_text(layout: Layout, all_owners: bool = False) -> str:
    """The owner table as text; cells that many places hold are shortened unless `all_owners`."""
    table = OwnerTable(layout)
    limit = None if all_owners else _MAX_NAMED_OWNERS
    lines = [table.legend()]
    for leading, rows, columns in table.slices():
        if leading:
            lines.append(_slice_title(leading))
        cells = [
            [table.cell(table.element(leading, row, column), limit) for column in range(columns)]
            for row in range(rows)
        ]
        widths = [
            max(len(str(column)), *(len(cells[row][column]) for row in range(rows)))
            for column in range(columns)
        ]
        margin = len(str(rows - 1))
        header = [str(column).rjust(width) for column, width in enumerate(widths)]
        lines.append(" ".join([" " * margin, *header]))
        for row, texts in enumerate(cells):
            padded = [text.rjust(width) for text, width in zip(texts, widths, strict=True)]
            lines.append(" ".join([str(row).rjust(margin), *padded]))
    return "\n".join(lines) + "\n"


def color_of(table: OwnerTable, owner: Owner) -> str:
    """One hue per warp, lighter with each lane; shared memory by bank (in elements of 4 bytes)."""
    if table.is_shared:
        hue, light = (owner.value("offset") % 32) / 32, 0.8
    else:
        hue = owner.value("warp") / table.in_sizes.get("warp", 1)
        light = 0.62 + 0.3 * owner.value("lane") / table.in_sizes.get("lane", 1)
    red, green, blue = colorsys.hls_to_rgb(hue, light, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def render_svg(layout: Layout) -> str:
    """The owner table as an SVG image; tool tips list all owners of a cell."""
    table = OwnerTable(layout)
    longest = max(len(table.cell(element)) for element in table.owners)
    width, height, margin, title_height = 7 * longest + 8, 20, 40, 24
    body: list[str] = []
    top, right = title_height, 0
    for leading, rows, columns in table.slices():
        if leading:
            body.append(f'<text class="h" x="4" y="{top + 14}">{_slice_title(leading)}</text>')
            top += height
        for column in range(columns):
            x = margin + column * width + width // 2
            body.append(f'<text class="h" x="{x}" y="{top + 14}">{column}</text>')
        top += height
        for row in range(rows):
            y = top + row * height
            body.append(f'<text class="h" x="{margin // 2}" y="{y + 14}">{row}</text>')
            for column in range(columns):
                element = table.element(leading, row, column)
                owners = table.owners.get(element, [])
                fill = color_of(table, owners[0]) if owners else "#ffffff"
                x = margin + column * width
                tip = f"{element}: {table.cell(element, None)}"
                body.append(
                    f'<g><title>{html.escape(tip)}</title><rect x="{x}" y="{y}" width="{width}" '
                    f'height="{height}" fill="{fill}"/><text x="{x + width // 2}" y="{y + 14}">'
                    f"{html.escape(table.cell(element))}</text></g>"
                )
        top += rows * height + height // 2
        right = max(right, margin + columns * width)
    right = max(right, 7 * len(table.legend())) + 8
    style = (
        "rect{stroke:#555;stroke-width:.5}"
        "text{font:11px monospace;text-anchor:middle}"
        ".h{fill:#555}.t{text-anchor:start}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{top}" '
            f'viewBox="0 0 {right} {top}">',
            f"<style>{style}</style>",
            f'<text class="h t" x="4" y="16">{html.escape(table.legend())}</text>',
            *body,
            "</svg>",
            "",
        ]
    )


def load_layout(text: str, shape: Sequence[int] | None) -> Layout:
    """The layout of an encoding over `shape`, or of a type.

    Raises `tile._C.ir.MLIRError` or ValueError if the text means neither.
    """
    from tile._C import ir, layout

    context = ir.Context()
    if text.lstrip().startswith("#"):
        if shape is None:
            raise ValueError("an encoding needs a shape: pass --shape, e.g. --shape 32x64")
        return layout.from_encoding(ir.Attribute.parse(text, context), list(shape))
    if shape is not None:
        raise ValueError("a type has a shape of its own: leave out --shape")
    return layout.from_type(ir.Type.parse(text, context))


def to_dict(layout: Layout) -> dict[str, object]:
    """The layout for programs: where each bit of an index goes, and the shape."""
    return {
        "shape": dict(layout.out_dims),
        "bases": {dim: [list(image) for image in images] for dim, images in layout.bases.items()},
    }
