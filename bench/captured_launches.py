"""Launches of public kernels, captured with all arguments, and made again at other points.

A point says the numbers of warps and of stages, and block sizes.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import inspect
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

WARPS = (1, 2, 4, 8, 16)
STAGES = (1, 2, 3, 4, 5)
#: What a launch has that says neither.
DEFAULTS = {"num_warps": 4, "num_stages": 3}
#: Kernels whose author computes other constants from the block sizes.
TIED = {"scaled_mm_kernel"}
#: Block sizes below this are not varied: `dot` wants so many elements.
SMALLEST_BLOCK = 16
#: How many times the author's elements a thread may have.
MOST_ELEMENTS = 4

Point = dict[str, int]


@dataclasses.dataclass
class Launch:
    """A launch of a row, to be made again with other options."""

    function: Any
    bound: dict[str, Any]
    grid: Any
    tensors: list[tuple[Any, Any]]
    heuristics: dict[str, Callable[[dict[str, Any]], Any]]
    tuned: set[str]

    def block_sizes(self) -> dict[str, int]:
        """The block sizes that may be others: nothing else depends on them."""
        if name_of(self.function) in TIED:
            return {}
        if any(_is_descriptor(value) for value in self.bound.values()):
            return {}  # A descriptor has the author's block in it.
        asked: set[str] = set()
        if callable(self.grid):
            self.grid(_Asked(self.bound, asked))
        return {
            p.name: value
            for p in self.function.params
            if p.is_constexpr and p.name in asked | self.tuned
            if (value := _power_of_two(self.bound.get(p.name))) is not None
        }

    def points(self, seed: str, count: int) -> list[Point]:
        blocks = self.block_sizes()
        author = {name: self.bound.get(name) or value for name, value in DEFAULTS.items()}
        sizes = [
            [(name, size) for size in (block // 2, block, block * 2) if size >= SMALLEST_BLOCK]
            for name, block in blocks.items()
        ]
        grid = []
        for warps, stages, *chosen in itertools.product(WARPS, STAGES, *sizes):
            point = {"num_warps": warps, "num_stages": stages, **dict(chosen)}
            elements = author["num_warps"] / warps
            for name, size in chosen:
                elements *= size / blocks[name]
            if elements <= MOST_ELEMENTS and point != author | blocks:
                grid.append(point)
        return random.Random(seed).sample(grid, len(grid))[:count]

    def run(self, point: Point, warmup: bool = False) -> Any:
        given = self.bound | point
        for name, heuristic in self.heuristics.items():
            if name not in point:
                with contextlib.suppress(KeyError):
                    given[name] = heuristic(given)
        return self.function.run(grid=self.grid, warmup=warmup, **given)

    def restore(self) -> None:
        """Puts the contents back that the tensors had."""
        for tensor, copy in self.tensors:
            tensor.copy_(copy)

    def written(self) -> list[Any]:
        """The tensors that have other contents now."""
        return [tensor for tensor, copy in self.tensors if not _same_bits(tensor, copy)]


class _Asked(dict):
    """Notes what a grid asks of the arguments."""

    def __init__(self, values: dict[str, Any], asked: set[str]) -> None:
        super().__init__(values)
        self.asked = asked

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)


def _same_bits(a: Any, b: Any) -> bool:
    import torch

    return torch.equal(*(t.contiguous().flatten().view(torch.uint8) for t in (a, b)))


def _is_descriptor(value: Any) -> bool:
    return "TensorDescriptor" in type(value).__name__


def _power_of_two(value: Any) -> int | None:
    value = getattr(value, "value", value)
    if type(value) is not int or value < SMALLEST_BLOCK or value & (value - 1):
        return None
    return value


def _tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        # One place for several elements: nobody writes there.
        if not any(s == 0 and n > 1 for s, n in zip(value.stride(), value.shape, strict=True)):
            yield value.detach()
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif _is_descriptor(value):
        yield from _tensors(value.base)


class Capture:
    """The first launch of each wanted kernel; with ``copies`` of what its tensors hold."""

    def __init__(self, copies: bool) -> None:
        self.copies = copies
        self.wanted: set[str] = set()
        self.found: dict[str, Launch] = {}
        self.heuristics: dict[str, dict[str, Callable]] = collections.defaultdict(dict)
        self.tuned: dict[str, set[str]] = collections.defaultdict(set)

    def install(self) -> None:
        """Notes what decorators say of kernels, which are defined behind this."""
        from triton.runtime.autotuner import Autotuner, Heuristics

        construct, compute = Autotuner.__init__, Heuristics.__init__

        def tuner(made: Any, fn: Any, names: Any, configs: Any, *args: Any, **kwargs: Any) -> None:
            construct(made, fn, names, configs, *args, **kwargs)
            for config in made.configs:
                self.tuned[name_of(fn)].update(config.kwargs)

        def heuristics(made: Any, fn: Any, names: Any, values: dict[str, Callable]) -> None:
            compute(made, fn, names, values)
            self.heuristics[name_of(fn)].update(values)

        Autotuner.__init__, Heuristics.__init__ = tuner, heuristics

    def watch(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        name = name_of(function)
        if name not in self.wanted or name in self.found:
            return
        bound = {p.name: p.default for p in function.params if p.default is not inspect._empty}
        bound |= dict(zip(function.arg_names, args, strict=False)) | kwargs
        grid = bound.pop("grid")
        bound.pop("warmup", None)
        tensors = [t for value in bound.values() for t in _tensors(value)] if self.copies else []
        self.found[name] = Launch(
            function,
            bound,
            grid,
            [(t, t.clone()) for t in tensors],
            self.heuristics[name],
            self.tuned[name],
        )


def name_of(function: Any) -> str:
    while hasattr(function, "fn"):
        function = function.fn
    return function.__name__


def fill_what_is_empty() -> None:
    """Memory that nothing wrote is alike with both compilers."""
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
