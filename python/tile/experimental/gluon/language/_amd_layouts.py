"""Layouts of the accumulators of AMD's matrix instructions."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from tile.errors import SemanticError
from tile.language.values import unwrap

from ._layouts import DistributedLayout, _bases, _cluster, _integers, _powers


@dataclass(frozen=True, eq=False)
class AMDMFMALayout(DistributedLayout):
    """Of the accumulator of MFMA: version 1 is gfx908, 2 gfx90a, 3 gfx942, 4 gfx950."""

    version: int
    instr_shape: list[int]
    transposed: bool
    warps_per_cta: list[int]
    element_bitwidth: int | None = None
    tiles_per_warp: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "MFMA"

    def __post_init__(self) -> None:
        warps = _integers(self.warps_per_cta, "warps_per_cta")
        tiles = unwrap(self.tiles_per_warp)
        self._set(
            version=unwrap(self.version),
            instr_shape=_integers(self.instr_shape, "instr_shape"),
            transposed=bool(unwrap(self.transposed)),
            warps_per_cta=warps,
            element_bitwidth=unwrap(self.element_bitwidth) or 32,
            tiles_per_warp=[1] * len(warps)
            if tiles is None
            else _integers(tiles, "tiles_per_warp"),
            cga_layout=_bases(self.cga_layout, "cga_layout"),
        )
        if self.version not in (1, 2, 3, 4):
            raise SemanticError(f"the version of an AMDMFMALayout is 1 to 4, not {self.version!r}")
        if len(self.instr_shape) != 3:
            raise SemanticError(f"instr_shape is [M, N, K], not {self.instr_shape}")
        if self.element_bitwidth not in (32, 64):
            raise SemanticError(f"element_bitwidth is 32 or 64, not {self.element_bitwidth!r}")
        if len(self.tiles_per_warp or []) != self.rank:
            raise SemanticError(
                f"tiles_per_warp has {self.rank} entries, as warps_per_cta, not "
                f"{self.tiles_per_warp}"
            )
        _powers(self, "instr_shape", "warps_per_cta", "tiles_per_warp")
        _cluster(self, self.rank)

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def _text(self) -> str:
        return (
            f"#ttg.amd_mfma<{{version = {self.version}, warpsPerCTA = {self.warps_per_cta}, "
            f"instrShape = {self.instr_shape}, isTransposed = {str(self.transposed).lower()}"
            f"{_cluster(self, self.rank)}, tilesPerWarp = {self.tiles_per_warp}, "
            f"elementBitWidth = {self.element_bitwidth}}}>"
        )

    def _own_shape(self) -> list[int]:
        tile = [1] * (self.rank - 2) + self.instr_shape[:2]
        parts = zip(tile, self.tiles_per_warp or [], self.warps_per_cta, strict=True)
        return [extent * tiles * warps for extent, tiles, warps in parts]


@dataclass(frozen=True, eq=False)
class AMDWMMALayout(DistributedLayout):
    """Of the accumulator of WMMA: version 1 is gfx11, 2 gfx12, 3 gfx1250.

    `warp_bases` and `reg_bases` count instructions: what each bit of the number of the warp adds,
    and where else the same warp computes.
    """

    version: int
    transposed: bool
    warp_bases: list[list[int]]
    reg_bases: list[list[int]] | None = None
    instr_shape: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list)
    rank: int | None = None  # type: ignore[assignment]

    _letters = "WMMA"

    def __post_init__(self) -> None:
        rank = unwrap(self.rank)
        shape = unwrap(self.instr_shape)
        self._set(
            version=unwrap(self.version),
            transposed=bool(unwrap(self.transposed)),
            warp_bases=_bases(self.warp_bases, "warp_bases"),
            reg_bases=_bases(unwrap(self.reg_bases) or [], "reg_bases"),
            instr_shape=[16, 16, 16] if shape is None else _integers(shape, "instr_shape"),
            cga_layout=_bases(self.cga_layout, "cga_layout"),
            rank=2 if rank is None else rank,
        )
        if self.version not in (1, 2, 3):
            raise SemanticError(f"the version of an AMDWMMALayout is 1 to 3, not {self.version!r}")
        if len(self.instr_shape or []) != 3:
            raise SemanticError(f"instr_shape is [M, N, K], not {self.instr_shape}")
        for name in ("warp_bases", "reg_bases"):
            for basis in getattr(self, name):
                if len(basis) != self.rank:
                    raise SemanticError(
                        f"each basis of {name} has {self.rank} entries, not {basis}"
                    )
        _cluster(self, self.rank)

    @functools.cached_property
    def _grid(self) -> tuple[list[int], list[int]]:
        return self._find_grid()

    def _find_grid(self) -> tuple[list[int], list[int]]:
        """The instructions of a warp and the warps along each dimension. The compiler knows
        neighbouring instructions in each warp, and warps in a grid whose last dimension counts
        fastest."""
        tiles, warps = [1] * self.rank, [1] * self.rank
        for basis in self.reg_bases or []:
            dims = [d for d, step in enumerate(basis) if step]
            if len(dims) != 1 or basis[dims[0]] != tiles[dims[0]]:
                raise self._no_grid()
            tiles[dims[0]] *= 2
        last = self.rank - 1
        for basis in self.warp_bases:
            dims = [d for d, step in enumerate(basis) if step]
            if (
                len(dims) != 1
                or dims[0] > last
                or basis[dims[0]] != (tiles[dims[0]] * warps[dims[0]])
            ):
                raise self._no_grid()
            last = dims[0]
            warps[last] *= 2
        return tiles, warps

    def _no_grid(self) -> SemanticError:
        return SemanticError(
            "tile has code for an AMDWMMALayout whose warps are a grid in row-major order, such as "
            "warp_bases=[[0, 1], [1, 0]], behind neighbouring instructions of each warp in "
            f"reg_bases, not for warp_bases={self.warp_bases}, reg_bases={self.reg_bases}"
        )

    def _text(self) -> str:
        tiles, warps = self._grid
        return (
            f"#ttg.amd_wmma<{{version = {self.version}, "
            f"isTranspose = {str(self.transposed).lower()}, warpsPerCTA = {warps}"
            f"{_cluster(self, self.rank)}, tilesPerWarp = {tiles}, "
            f"instrShape = {self.instr_shape}}}>"
        )

    def __eq__(self, other: object) -> bool:
        """Also of layouts that tile has no code for."""
        return isinstance(other, AMDWMMALayout) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _own_shape(self) -> list[int]:
        tile = [1] * (self.rank - 2) + (self.instr_shape or [])[:2]
        parts = zip(tile, *self._grid, strict=True)
        return [extent * tiles * warps for extent, tiles, warps in parts]


def wmma_of_grid(
    version: int, transposed: bool, warps: list[int], tiles: list[int], shape: list[int], cga: list
) -> AMDWMMALayout:
    """The layout of a grid of warps, as IR has it."""
    rank = len(warps)

    def bases(extents: list[int], steps: list[int]) -> list[list[int]]:
        return [
            [steps[d] << bit if e == d else 0 for e in range(rank)]
            for d in reversed(range(rank))
            for bit in range(extents[d].bit_length() - 1)
        ]

    return AMDWMMALayout(
        version, transposed, bases(warps, tiles), bases(tiles, [1] * rank), shape, cga, rank
    )
