"""Values of variables, from what the threads of a program assigned."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bits import is_pointer, to_values
from .marks import Marks, Scope, Site, mask_name


@dataclass(frozen=True)
class Holder:
    """A thread with the register that held an element when it was assigned."""

    block: int
    warp: int
    lane: int
    register: str


@dataclass
class Variable:
    """A variable as the program has it."""

    name: str
    type: str
    #: Of a tensor its elements; else one value.
    value: Any
    #: Elements that no thread has assigned yet, or that only threads have that are behind.
    missing: np.ndarray | None = None
    #: Where threads that should hold the same element hold different ones.
    differs: np.ndarray | None = None
    #: Elements that the load read, where it had a mask.
    mask: np.ndarray | None = None
    site: Site | None = None
    #: The marks that assigned it last, by warp (block, warp).
    marks: dict[tuple[int, int], int] | None = None

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.site.shape if self.site is not None else None

    @property
    def is_pointer(self) -> bool:
        return is_pointer(self.type)


class Captures:
    """What the warps of a program have assigned, read once for a stop."""

    def __init__(self, native: Any, marks: Marks, blocks: int, warps: int) -> None:
        self.native, self.marks = native, marks
        self.lanes = native.wave_lanes
        self.by_warp: dict[tuple[int, int], dict[int, tuple]] = {}
        for block in range(blocks):
            for warp in range(warps):
                found = {}
                for head, stamps, counts, values in native.captures(block, warp):
                    words = np.frombuffer(values, np.uint64).reshape(-1, self.lanes)
                    found[head] = (np.array(stamps, np.uint64), np.array(counts), words)
                self.by_warp[block, warp] = found

    def entered(self, key: tuple[int, int], scope: Scope) -> np.ndarray:
        number = self.marks.scopes.get(scope)
        found = [] if number is None else self.native.entered(*key, number)
        return np.array(found or [0] * self.lanes, np.uint64)

    def names(self, scope: Scope) -> list[str]:
        """The variables of a function that some thread has assigned since it began."""
        return [
            name
            for name, heads in self.marks.variables.get(scope, {}).items()
            if not name.endswith(mask_name("")) and self._latest(scope, heads)
        ]

    def _latest(self, scope: Scope, heads: list[int]) -> dict[tuple[int, int], tuple]:
        """By warp: for each lane the mark that assigned last and when, and how often all did."""
        found = {}
        for key, captures in self.by_warp.items():
            mine = [h for h in heads if h in captures]
            if not mine:
                continue
            stamps = np.stack([captures[h][0] for h in mine])
            counts = np.stack([captures[h][1] for h in mine]).sum(axis=0)
            stamps = np.where(stamps > self.entered(key, scope), stamps, 0)
            if not stamps.any():
                continue
            best = stamps.argmax(axis=0)
            found[key] = (np.array(mine)[best], stamps.max(axis=0), counts)
        return found

    def find(self, scope: Scope, name: str) -> Variable | None:
        """A variable; None if it has no value (yet)."""
        heads = self.marks.variables.get(scope, {}).get(name)
        if not heads:
            return None
        latest = self._latest(scope, heads)
        if not latest:
            return None
        # The assignment that came last decides what the variable is.
        last = max(latest, key=lambda key: latest[key][1].max())
        number = int(latest[last][0][latest[last][1].argmax()])
        mark = self.marks.list[number]
        if mark.kind == "constant":
            return Variable(name, "constexpr", _constant(mark.facts["text"]))
        site = self.marks.site(number)
        variable = self._gather(name, site, latest)
        if (mask := self.find(scope, mask_name(name))) is not None and mask.value is not None:
            same = mask.missing is not None and variable.missing is not None
            if same and self._is_of(scope, name, latest):
                variable.mask = np.asarray(mask.value, bool)
        return variable

    def _is_of(self, scope: Scope, name: str, latest: dict) -> bool:
        """Whether the mask was assigned with the variable's last value, and not with one before."""
        masks = self._latest(scope, self.marks.variables[scope][mask_name(name)])
        return all(
            key in masks and (masks[key][1] > stamps)[stamps > 0].all()
            for key, (_, stamps, _) in latest.items()
        )

    def _gather(self, name: str, site: Site, latest: dict) -> Variable:
        """Puts a value together from the registers of all threads that have it."""
        count = max(int(counts.max()) for _, _, counts in latest.values())
        shape = site.shape if site.shape is not None else ()
        size = int(np.prod(shape, dtype=np.int64))
        bits = np.zeros(size, np.uint64)
        missing = np.ones(size, bool)
        differs = np.zeros(size, bool)
        marks: dict[tuple[int, int], int] = {}
        for key, (heads, _, counts) in latest.items():
            block, warp = key
            if not site.first_warp <= warp < site.first_warp + site.warps:
                continue
            for head in np.unique(heads):
                if self.marks.list[head].kind != "value" or self.marks.site(int(head)) != site:
                    continue
                lanes = np.flatnonzero((heads == head) & (counts == count))
                if not lanes.size:
                    continue
                marks[key] = int(head)
                words = self.by_warp[key][int(head)][2][:, lanes]
                at = positions(site, block, warp - site.first_warp, self.lanes)[:, lanes]
                differs[at] |= ~missing[at] & (bits[at] != words)
                bits[at] = words
                missing[at] = False
        values = to_values(bits, site.type).reshape(shape)
        if site.shape is None:
            return Variable(
                name, site.type, None if missing.all() else values[()], None,
                np.array(differs.any()) if differs.any() else None, None, site, marks,
            )  # fmt: skip
        return Variable(
            name, site.type, values, missing.reshape(shape), differs.reshape(shape), None, site,
            marks,
        )  # fmt: skip

    def holders(self, variable: Variable, index: tuple[int, ...]) -> Iterator[Holder]:
        """The threads that have an element."""
        site = variable.site
        if site is None or variable.marks is None:
            return
        shape = site.shape or ()
        flat = int(np.ravel_multi_index(index, shape)) if shape else 0
        for (block, warp), head in variable.marks.items():
            at = positions(site, block, warp - site.first_warp, self.lanes)
            names = self.marks.registers[head]
            for register, lane in zip(*np.nonzero(at == flat), strict=True):
                yield Holder(block, warp, int(lane), names[register])


def positions(site: Site, block: int, warp: int, lanes: int) -> np.ndarray:
    """By register and lane of a warp: which element it is, counted in rows."""
    if site.shape is None:
        return np.zeros((1, lanes), np.int64)
    layout = json.loads(site.layout)
    rank = len(site.shape)

    def image(name: str, values: np.ndarray) -> np.ndarray:
        out = np.zeros((values.size, rank), np.int64)
        for bit, basis in enumerate(layout.get(name, [])):
            out ^= np.where((values >> bit & 1)[:, None], np.array(basis, np.int64), 0)
        return out

    registers = image("register", np.arange(site.registers))[:, None]
    lane = image("lane", np.arange(lanes))[None]
    rest = image("warp", np.array([warp])) ^ image("block", np.array([block]))
    index = registers ^ lane ^ rest[None]
    return np.ravel_multi_index(tuple(np.moveaxis(index, -1, 0)), site.shape)


def _constant(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
