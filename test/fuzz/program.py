"""A generated program: source text, arguments, a configuration."""

from __future__ import annotations

import dataclasses
import linecache
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tile.tools.tensor_descriptor import TensorDescriptor

from .values import TYPES, limits

TARGETS = (80, 86, 89, 90)
POISON = 0xA5


@dataclass(frozen=True)
class Config:
    """How a program is compiled."""

    target: int = 80
    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    #: What it runs on, if that is no NVIDIA GPU; the program is the one made for `target`.
    elsewhere: str = ""
    #: Other options of the compile.
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def machine(self) -> str:
        return self.elsewhere or f"cuda:{self.target}"

    def __str__(self) -> str:
        ctas = f", {self.num_ctas} blocks" if self.num_ctas > 1 else ""
        more = "".join(f", {name}={value!r}" for name, value in self.options)
        return f"{self.machine}, {self.num_warps} warps, {self.num_stages} stages{ctas}{more}"


@dataclass(frozen=True)
class Argument:
    """A parameter of the kernel, and how to make a value for it."""

    name: str
    role: str  # "input", "output", "scalar" or "constexpr"
    type: str
    size: int = 1
    #: Of the contents: "full", "small", "exact", "wild", "index", "poison", "zero".
    flavour: str = "full"
    low: int = 0
    high: int = 0
    grid: int = 0
    special: bool = False
    #: Elements by which the array is off a 16-byte boundary.
    skew: int = 0
    #: Of outputs: by how much executions may differ.
    tolerance: float = 0.0
    value: Any = None
    #: Of outputs: NumPy that says what they are, with the inputs as its variables. It need not say
    #: anything; where it does, it knows nothing of the language.
    known: str = ""
    #: The array of which this is a part, and with which of its elements it begins.
    view: tuple[str, int] | None = None
    #: Of a descriptor of the array, which the caller makes: shape, strides, shape of a block.
    descriptor: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class Program:
    """A kernel with all that is needed to run it."""

    seed: int
    source: str
    arguments: tuple[Argument, ...]
    grid: tuple[int, ...] = (1,)
    config: Config = field(default_factory=Config)

    def replace(self, **changes: Any) -> Program:
        return dataclasses.replace(self, **changes)

    def kernel(self) -> Any:
        """The function `kernel` of the source."""
        name = f"<kernel {self.seed}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        namespace: dict[str, Any] = {"__name__": f"fuzz_{self.seed}"}
        exec(compile(self.source, name, "exec"), namespace)
        return namespace["kernel"]

    def inputs(self) -> dict[str, Any]:
        """Fresh arguments by name; the same at each call."""
        made = {
            a.name: make(a, self.seed * 1000 + i)
            for i, a in enumerate(self.arguments)
            if a.view is None
        }
        for a in self.arguments:
            if a.view is not None:
                array, first = a.view
                made[a.name] = made[array][first : first + a.size]
            if a.descriptor is not None:
                made[a.name] = TensorDescriptor(made[a.name], *map(list, a.descriptor))
        return {a.name: made[a.name] for a in self.arguments}

    def describe(self) -> str:
        """The program as text that can be read and run by hand."""
        lines = [f"# seed {self.seed}, grid {self.grid}, {self.config}"]
        for a in self.arguments:
            known = ", ".join(
                f"{f.name}={getattr(a, f.name)!r}"
                for f in dataclasses.fields(a)
                if f.name not in ("name", "role", "type") and getattr(a, f.name) != f.default
            )
            lines.append(f"#   {a.name}: {a.role} {a.type} {known}")
        return "\n".join([*lines, self.source])


def _aligned(size: int, dtype: Any, skew: int) -> np.ndarray:
    """An array that starts `skew` elements after a 64-byte boundary."""
    item = np.dtype(dtype).itemsize
    raw = np.empty((size + skew) * item + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + (size + skew) * item].view(dtype)[skew:]


def make(argument: Argument, seed: int) -> Any:
    """The value of an argument."""
    if argument.role in ("scalar", "constexpr"):
        return argument.value
    info = TYPES[argument.type]
    rng = np.random.default_rng(seed)
    array = _aligned(argument.size, info.numpy, argument.skew)
    if argument.flavour == "poison":
        array.view(np.uint8)[...] = POISON if info.kind != "b" else 1
    elif argument.flavour == "zero":
        array.view(np.uint8)[...] = 0
    elif info.kind == "b":
        array[...] = rng.integers(0, 2, argument.size).astype(bool)
    elif info.kind == "f":
        _floats(array, argument, rng)
    else:
        _integers(array, argument, rng)
    return array


def _integers(array: np.ndarray, argument: Argument, rng: np.random.Generator) -> None:
    low, high = limits(argument.type)
    if argument.flavour == "full":
        array.view(np.uint8)[...] = rng.integers(0, 256, array.nbytes, dtype=np.uint8)
        edges = np.array([0, 1, low, high, high - 1, low + 1, -1 & high], array.dtype)
        at = rng.random(array.size) < 0.3
        array[at] = rng.choice(edges, int(at.sum()))
    else:
        low, high = max(low, argument.low), min(high, argument.high)
        wide = np.int64 if high < 2**63 else np.uint64
        drawn = rng.integers(low, high, array.size, dtype=wide, endpoint=True)
        array[...] = drawn.astype(array.dtype)


def _floats(array: np.ndarray, argument: Argument, rng: np.random.Generator) -> None:
    if argument.flavour == "exact":
        scaled = rng.integers(argument.low, argument.high, array.size, endpoint=True)
        array[...] = (scaled / 2.0**argument.grid).astype(array.dtype)
    else:
        with np.errstate(all="ignore"):
            ordinary = rng.standard_normal(array.size) * 2.0 ** rng.integers(-20, 14, array.size)
            array[...] = ordinary.astype(array.dtype)
        # Any bits at all: denormal and huge numbers, NaN with any payload.
        bits = rng.integers(0, 256, array.nbytes, dtype=np.uint8).view(array.dtype)
        at = rng.random(array.size) < 0.2
        array[at] = bits[at]
    tiny = np.array([0.0, -0.0], array.dtype)
    at = rng.random(array.size) < 0.05
    array[at] = rng.choice(tiny, int(at.sum()))
    finite_only = TYPES[argument.type].name == "fp8e4nv"
    if argument.special:
        edges = [np.nan] if finite_only else [np.nan, np.inf, -np.inf]
        at = rng.random(array.size) < 0.1
        array[at] = rng.choice(np.array(edges, array.dtype), int(at.sum()))
    else:
        with np.errstate(all="ignore"):
            array[~np.isfinite(array.astype(np.float64))] = 1.0
