"""Layouts: which thread holds which element of a tensor, and where it lies in shared memory.

Each is a value: frozen, hashable, equal to its like. Its `mlir` is the attribute that it stands
for; the compiler's own algebra answers all questions about it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tile.errors import SemanticError
from tile.language.values import constexpr_type, unwrap
from tile.runtime.jit import constexpr_function


def _integers(value: Any, what: str) -> list:
    value = unwrap(value)
    if not isinstance(value, (list, tuple)):
        raise SemanticError(f"{what} is a list of integers, not {value!r}")
    items = [unwrap(v) for v in value]
    if any(isinstance(v, bool) or not isinstance(v, int) for v in items):
        raise SemanticError(f"{what} is a list of integers, not {value!r}")
    return items


def _bases(value: Any, what: str) -> list:
    value = unwrap(value)
    if not isinstance(value, (list, tuple)):
        raise SemanticError(f"{what} is a list of bases, not {value!r}")
    return [_integers(v, f"a basis of {what}") for v in value]


def _one_length(layout: Any, *names: str) -> int:
    lengths = {name: len(getattr(layout, name)) for name in names}
    if len(set(lengths.values())) != 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise SemanticError(f"{type(layout).__name__} needs lists of one length, but {said}")
    return next(iter(lengths.values()))


def _powers(layout: Any, *names: str) -> None:
    for name in names:
        for value in getattr(layout, name):
            if value < 1 or value & (value - 1):
                raise SemanticError(
                    f"{type(layout).__name__}: {name} has powers of two, not {value}"
                )


def _check_order(layout: Any) -> None:
    if sorted(layout.order) != list(range(len(layout.order))):
        raise SemanticError(
            f"{type(layout).__name__}: order must be a permutation of 0..(rank-1), but was "
            f"{layout.order}; it lists the fastest dimension first"
        )


def _cluster(layout: Any, rank: int) -> str:
    """What is printed of how blocks of a cluster share a tensor."""
    for basis in layout.cga_layout:
        if len(basis) != rank:
            raise SemanticError(
                f"{type(layout).__name__}: each basis of cga_layout has {rank} entries, not {basis}"
            )
    return f", CGALayout = {layout.cga_layout}" if layout.cga_layout else ""


def _parts(shape: Sequence[int], cga_layout: list[list[int]]) -> list[int]:
    """The shape of what each block of a cluster has."""
    parts = list(shape)
    for basis in cga_layout:
        parts = [e // 2 if step else e for e, step in zip(parts, basis, strict=True)]
    return parts


class ViewError(SemanticError, ValueError):
    """A layout has no table that shows it."""


class _Layout:
    """What all layouts have in common."""

    #: Kernels may read layouts from modules: they do not change.
    __tile_global__ = True
    _letters: ClassVar[str] = ""

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)

    @functools.cached_property
    def mlir(self) -> str:
        """The attribute, as IR spells it."""
        return self._text()

    def _text(self) -> str:
        raise NotImplementedError

    def mangle(self) -> str:
        """A name of the layout that is part of the names of functions."""
        values = [getattr(self, f.name) for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        return f"{self._letters}{'_'.join(map(_mangle, values))}{self._letters}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Layout) and self.mlir == other.mlir)

    def __hash__(self) -> int:
        return hash(self.mlir)

    def __str__(self) -> str:
        return repr(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "mlir"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _repr_svg_(self) -> str:
        """A picture, for notebooks: of the smallest tensor that the layout covers."""
        from tile.tools.layout import render_svg

        from ._inference import linear_layout

        return render_svg(linear_layout(self, self._own_shape()))

    def _own_shape(self) -> list[int]:
        raise SemanticError(f"{type(self).__name__} has no shape of its own to draw")

    def _check_view(self) -> None:
        """Raises where there are no places to show."""

    @constexpr_function
    def format_tensor_view(self, shape: Sequence[int]) -> str:
        """Who holds each element of a tensor of this shape, as a table."""
        self._check_view()
        from tile.tools.layout import render_text

        from ._inference import linear_layout

        return render_text(linear_layout(self, shape))

    @constexpr_function
    def format_hardware_view(self, shape: Sequence[int]) -> str:
        """What each register of each lane holds, or each offset of a buffer, as a table."""
        self._check_view()
        from ._inference import linear_layout
        from ._views import hardware_view

        return hardware_view(linear_layout(self, shape))


def _mangle(value: Any) -> str:
    if isinstance(value, _Layout):
        return value.mangle()
    if isinstance(value, (list, tuple)):
        return "_".join(map(_mangle, value))
    return str(value)


class DistributedLayout(_Layout):
    """Of a tensor in registers."""

    @property
    def rank(self) -> int:
        raise NotImplementedError


class SharedLayout(_Layout):
    """Of a buffer in shared memory."""

    @property
    def rank(self) -> int:
        raise NotImplementedError

    def _of_buffer(self, shape: Sequence[int]) -> SharedLayout:
        """The layout that IR has for a buffer of this shape."""
        return self


@dataclass(frozen=True, eq=False)
class AutoLayout(DistributedLayout):
    """Left open: it follows from the operations around."""

    _letters = "AL"

    def _check_view(self) -> None:
        raise ViewError("AutoLayout cannot be visualized: it is left open")

    @property
    def rank(self) -> int:
        raise SemanticError("an AutoLayout has no rank until it is decided")

    def _text(self) -> str:
        return "#gluon.auto_encoding"


@dataclass(frozen=True, eq=False)
class CoalescedLayout(DistributedLayout):
    """Chosen so that the threads of a warp access memory side by side."""

    _letters = "CL"

    def _check_view(self) -> None:
        raise ViewError("CoalescedLayout cannot be visualized: it is left open")

    @property
    def rank(self) -> int:
        raise SemanticError("a CoalescedLayout has no rank until it is decided")

    def _text(self) -> str:
        return "#gluon.coalesced_encoding"


@dataclass(frozen=True, eq=False)
class BlockedLayout(DistributedLayout):
    """A grid of registers in a grid of lanes in a grid of warps."""

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "B"

    def __post_init__(self) -> None:
        names = ("size_per_thread", "threads_per_warp", "warps_per_cta", "order")
        self._set(**{n: _integers(getattr(self, n), n) for n in names})
        self._set(cga_layout=_bases(self.cga_layout, "cga_layout"))
        rank = _one_length(self, *names)
        _powers(self, *names[:3])
        _check_order(self)
        _cluster(self, rank)

    @property
    def rank(self) -> int:
        return len(self.order)

    def _text(self) -> str:
        return (
            f"#ttg.blocked<{{sizePerThread = {self.size_per_thread}, "
            f"threadsPerWarp = {self.threads_per_warp}, warpsPerCTA = {self.warps_per_cta}, "
            f"order = {self.order}{_cluster(self, self.rank)}}}>"
        )

    def _own_shape(self) -> list[int]:
        parts = (self.size_per_thread, self.threads_per_warp, self.warps_per_cta)
        return [math.prod(extents) for extents in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class SliceLayout(DistributedLayout):
    """That of a tensor of one dimension more, with `dim` taken out."""

    dim: int
    parent: DistributedLayout

    _letters = "SL"

    def __post_init__(self) -> None:
        self._set(dim=unwrap(self.dim), parent=unwrap(self.parent))
        if not isinstance(self.parent, DistributedLayout):
            raise SemanticError(f"the parent of a SliceLayout is a layout, not {self.parent!r}")
        if isinstance(self.parent, (AutoLayout, CoalescedLayout)):
            raise SemanticError("the parent of a SliceLayout must be decided, not left open")
        if not isinstance(self.dim, int) or not 0 <= self.dim < self.parent.rank:
            raise SemanticError(
                f"the dim of a SliceLayout of rank {self.parent.rank} is from 0 to "
                f"{self.parent.rank - 1}, not {self.dim!r}"
            )

    @property
    def rank(self) -> int:
        return self.parent.rank - 1

    @property
    def cga_layout(self) -> list[list[int]]:
        parts = getattr(self.parent, "cga_layout", [])
        return [[*basis[: self.dim], *basis[self.dim + 1 :]] for basis in parts]

    def _text(self) -> str:
        return f"#ttg.slice<{{dim = {self.dim}, parent = {self.parent.mlir}}}>"

    def _own_shape(self) -> list[int]:
        shape = self.parent._own_shape()
        return [*shape[: self.dim], *shape[self.dim + 1 :]]


@dataclass(frozen=True, eq=False)
class DistributedLinearLayout(DistributedLayout):
    """What each bit of the numbers of register, lane, warp and block adds to the coordinates."""

    reg_bases: list[list[int]]
    lane_bases: list[list[int]]
    warp_bases: list[list[int]]
    block_bases: list[list[int]]
    shape: list[int]

    _letters = "DLL"

    def __post_init__(self) -> None:
        names = ("reg_bases", "lane_bases", "warp_bases", "block_bases")
        self._set(**{n: _bases(getattr(self, n), n) for n in names})
        self._set(shape=_integers(self.shape, "shape"))
        for name in names:
            for basis in getattr(self, name):
                if len(basis) != len(self.shape):
                    raise SemanticError(
                        f"each basis of {name} has {len(self.shape)} entries, not {basis}"
                    )

    @property
    def rank(self) -> int:
        return len(self.shape)

    def _text(self) -> str:
        return (
            f"#ttg.linear<{{register = {self.reg_bases}, lane = {self.lane_bases}, "
            f"warp = {self.warp_bases}, block = {self.block_bases}}}>"
        )

    def _own_shape(self) -> list[int]:
        return self.shape


@dataclass(frozen=True, eq=False)
class DotOperandLayout(DistributedLayout):
    """Of an operand of a dot whose accumulator has the layout `parent`."""

    operand_index: int
    parent: DistributedLayout
    k_width: int

    _letters = "DO"

    def __post_init__(self) -> None:
        self._set(
            operand_index=unwrap(self.operand_index),
            parent=unwrap(self.parent),
            k_width=unwrap(self.k_width),
        )
        if self.operand_index not in (0, 1):
            raise SemanticError(f"operand_index is 0 or 1, not {self.operand_index!r}")
        if not isinstance(self.parent, DistributedLayout):
            raise SemanticError(
                f"the parent of a DotOperandLayout is a layout, not {self.parent!r}"
            )

    @property
    def rank(self) -> int:
        return self.parent.rank

    @property
    def cga_layout(self) -> list[list[int]]:
        """The blocks that share this operand have the same of it: nothing splits along K."""
        inner = self.rank - 1 - self.operand_index
        parts = getattr(self.parent, "cga_layout", [])
        return [[0 if d == inner else step for d, step in enumerate(b)] for b in parts]

    def _text(self) -> str:
        width = f", kWidth = {self.k_width}" if self.k_width else ""
        return f"#ttg.dot_op<{{opIdx = {self.operand_index}, parent = {self.parent.mlir}{width}}}>"


@dataclass(frozen=True, eq=False)
class NVMMADistributedLayout(DistributedLayout):
    """Of the accumulator of NVIDIA's matrix instructions: version [2, 0] of ``mma.sync``,
    [3, 0] of ``wgmma``."""

    version: list[int]
    warps_per_cta: list[int]
    instr_shape: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "MMA"

    def __post_init__(self) -> None:
        names = ("version", "warps_per_cta", "instr_shape")
        self._set(**{n: _integers(getattr(self, n), n) for n in names})
        self._set(cga_layout=_bases(self.cga_layout, "cga_layout"))
        if len(self.version) != 2:
            raise SemanticError(f"version is [major, minor], not {self.version}")
        _powers(self, "warps_per_cta")
        _cluster(self, self.rank)

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def _text(self) -> str:
        return (
            f"#ttg.nvidia_mma<{{versionMajor = {self.version[0]}, "
            f"versionMinor = {self.version[1]}, warpsPerCTA = {self.warps_per_cta}"
            f"{_cluster(self, self.rank)}, instrShape = {self.instr_shape}}}>"
        )

    def _own_shape(self) -> list[int]:
        tile = self.instr_shape[: self.rank]
        return [w * t for w, t in zip(self.warps_per_cta, tile, strict=True)]


@dataclass(frozen=True, eq=False)
class NVMMASharedLayout(SharedLayout):
    """What NVIDIA's tensor cores and copy engine understand."""

    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2  # type: ignore[assignment]
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "NVMMA"

    def __post_init__(self) -> None:
        names = ("swizzle_byte_width", "element_bitwidth", "rank")
        self._set(**{n: unwrap(getattr(self, n)) for n in names})
        self._set(
            transposed=bool(unwrap(self.transposed)), fp4_padded=bool(unwrap(self.fp4_padded))
        )
        self._set(cga_layout=_bases(self.cga_layout, "cga_layout"))
        if self.swizzle_byte_width not in (0, 32, 64, 128):
            raise SemanticError(
                f"swizzle_byte_width is 0, 32, 64 or 128, not {self.swizzle_byte_width!r}"
            )
        if self.element_bitwidth not in (8, 16, 32, 64):
            raise SemanticError(
                f"element_bitwidth is 8, 16, 32 or 64, not {self.element_bitwidth!r}"
            )
        _cluster(self, self.rank)

    def _text(self) -> str:
        padded = ", fp4Padded = true" if self.fp4_padded else ""
        cluster = _cluster(self, self.rank)
        rank = f", rank = {self.rank}" if self.rank != 2 and not cluster else ""
        return (
            f"#ttg.nvmma_shared<{{swizzlingByteWidth = {self.swizzle_byte_width}, "
            f"transposed = {str(self.transposed).lower()}, "
            f"elementBitWidth = {self.element_bitwidth}{padded}{cluster}{rank}}}>"
        )

    @staticmethod
    @constexpr_function
    def get_default_for(
        block_shape: Any,
        dtype: Any,
        transposed: bool = False,
        fp4_padded: bool = False,
        cga_layout: Any = None,
    ) -> NVMMASharedLayout:
        """The widest swizzle that the rows of a block fill."""
        shape = _integers(block_shape, "block_shape")
        cga_layout = _bases(cga_layout or [], "cga_layout")
        bits = unwrap(dtype).primitive_bitwidth
        parts = [
            extent // (1 + sum(basis[d] for basis in cga_layout)) for d, extent in enumerate(shape)
        ]
        if transposed:
            parts = [*parts[:-2], parts[-1], parts[-2]]
        row = parts[-1] * (2 if fp4_padded else 1) * bits // 8
        rows = math.prod(parts[:-1])
        width = next((w for w in (128, 64, 32) if row % w == 0), 0)
        if len(shape) < 2 or rows < 8:
            width = 0
        return NVMMASharedLayout(
            width, bits, len(shape), bool(transposed), bool(fp4_padded), cga_layout
        )


@dataclass(frozen=True, eq=False)
class SwizzledSharedLayout(SharedLayout):
    """Groups of `vec` elements change places, by an exclusive or with the row's phase."""

    vec: int
    per_phase: int
    max_phase: int
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "SSS"

    def __post_init__(self) -> None:
        names = ("vec", "per_phase", "max_phase")
        self._set(**{n: unwrap(getattr(self, n)) for n in names})
        self._set(
            order=_integers(self.order, "order"), cga_layout=_bases(self.cga_layout, "cga_layout")
        )
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1 or value & (value - 1):
                raise SemanticError(f"{name} is a power of two, not {value!r}")
        _check_order(self)
        _cluster(self, self.rank)

    @property
    def rank(self) -> int:
        return len(self.order)

    def _text(self) -> str:
        return (
            f"#ttg.swizzled_shared<{{vec = {self.vec}, perPhase = {self.per_phase}, "
            f"maxPhase = {self.max_phase}, order = {self.order}{_cluster(self, self.rank)}}}>"
        )


@dataclass(frozen=True, eq=False)
class PaddedSharedLayout(SharedLayout):
    """A linear layout, with gaps after every so many elements."""

    interval_padding_pairs: list[list[int]]
    offset_bases: list[list[int]]
    cga_layout: list[list[int]]
    shape: list[int]

    _letters = "PSL"

    def _check_view(self) -> None:
        raise ViewError("PaddedSharedLayout cannot be visualized: tables have no gaps")

    def __post_init__(self) -> None:
        names = ("interval_padding_pairs", "offset_bases", "cga_layout")
        self._set(**{n: _bases(getattr(self, n), n) for n in names})
        self._set(shape=_integers(self.shape, "shape"))
        if not self.interval_padding_pairs:
            raise SemanticError("a PaddedSharedLayout has at least one [interval, padding]")
        for pair in self.interval_padding_pairs:
            if len(pair) != 2 or any(v < 1 or v & (v - 1) for v in pair):
                raise SemanticError(f"[interval, padding] are two powers of two, not {pair}")

    @property
    def rank(self) -> int:
        return len(self.shape)

    def _text(self) -> str:
        pads = ", ".join(f"{interval}:+{pad}" for interval, pad in self.interval_padding_pairs)
        parts = _parts(self.shape, self.cga_layout)
        blocks = [[step * e for step, e in zip(b, parts, strict=True)] for b in self.cga_layout]
        return f"#ttg.padded_shared<[{pads}] {{offset = {self.offset_bases}, block = {blocks}}}>"

    @staticmethod
    @constexpr_function
    def with_identity_for(
        interval_padding_pairs: Any, shape: Any, order: Any, cga_layout: Any = None
    ) -> PaddedSharedLayout:
        """Elements in the given order of dimensions, fastest first."""
        extents, order = _integers(shape, "shape"), _integers(order, "order")
        cluster = _bases(cga_layout or [], "cga_layout")
        parts = _parts(extents, cluster)
        bases = [
            [1 << bit if d == dim else 0 for d in range(len(extents))]
            for dim in order
            for bit in range(parts[dim].bit_length() - 1)
        ]
        return PaddedSharedLayout(interval_padding_pairs, bases, cluster, extents)


@dataclass(frozen=True, eq=False)
class SharedLinearLayout(SharedLayout):
    """What each bit of the offset, and of the number of the block, adds to the coordinates."""

    offset_bases: list[list[int]]
    block_bases: list[list[int]] = field(default_factory=list)
    alignment: int = 16

    _letters = "SLL"

    def __post_init__(self) -> None:
        self._set(
            offset_bases=_bases(self.offset_bases, "offset_bases"),
            block_bases=_bases(self.block_bases, "block_bases"),
            alignment=unwrap(self.alignment),
        )
        if not self.offset_bases:
            raise SemanticError("a SharedLinearLayout has at least one offset basis")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise SemanticError(f"alignment is a power of two, not {self.alignment}")

    @property
    def rank(self) -> int:
        return len(self.offset_bases[0])

    @property
    def shape(self) -> list[int]:
        every = [*self.offset_bases, *self.block_bases]
        return [1 << max(b[d] for b in every).bit_length() for d in range(self.rank)]

    def _text(self) -> str:
        block = f", block = {self.block_bases}" if self.block_bases else ""
        return (
            f"#ttg.shared_linear<{{offset = {self.offset_bases}{block}}}, "
            f"alignment = {self.alignment}>"
        )

    def _own_shape(self) -> list[int]:
        return self.shape


def is_open(layout: Any) -> bool:
    """Whether a pass decides the layout."""
    return isinstance(layout, (AutoLayout, CoalescedLayout))


#: Layouts that the text of a signature may have.
NAMED = {
    cls.__name__: cls
    for cls in (NVMMASharedLayout, SwizzledSharedLayout, PaddedSharedLayout, SharedLinearLayout)
}


def parse(text: str) -> Any:
    """A shared layout from what `repr` says of it."""
    import ast

    try:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        arguments = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
        values = list(map(ast.literal_eval, call.args))
        return NAMED[call.func.id](*values, **arguments)
    except (SyntaxError, AssertionError, KeyError, ValueError, TypeError):
        raise SemanticError(f"{text!r} is no layout of shared memory") from None
