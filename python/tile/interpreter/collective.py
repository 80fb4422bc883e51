"""Reductions, scans and maps with functions of the user's; matrix products.

A combine function is called on scalars. Here it is called once for many at a
time: its arguments have the types of scalars, but hold an element for each of
many. Only where it branches on one of them does it run for each by itself.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..language.values import tensor
from .numbers import unsigned
from .registry import operation


class Divergent(Exception):
    """A branch goes both ways for the elements that are computed together."""


class Region:
    """A function of the user's, and how it is called on elements."""

    def __init__(
        self, builder: Any, function: Any, types: list[Any], arguments: Any, results: Any
    ) -> None:
        self.builder = builder
        self.function = function
        self.types = types
        self.arguments = arguments
        self.results = results
        #: The types of the results, once it has run.
        self.result_types: list[Any] = []

    def __call__(self, *handles: np.ndarray) -> list[np.ndarray]:
        """The results for each element of the operands, which have one shape."""
        shape = handles[0].shape
        try:
            results = self.once(handles)
        except Divergent:
            flat = [h.reshape(-1) for h in handles]
            rows = [self.once([np.asarray(h[i]) for h in flat]) for i in range(flat[0].size)]
            results = [np.stack(column).reshape(shape) for column in zip(*rows, strict=True)]
        return [np.broadcast_to(r, shape) for r in results]

    def once(self, handles: Any) -> list[np.ndarray]:
        elements = [tensor(h, t) for h, t in zip(handles, self.types, strict=True)]
        self.builder.in_region += 1
        try:
            outcome = self.builder.call_function(self.function, self.arguments(elements), {})
        finally:
            self.builder.in_region -= 1
        results = self.results(outcome)
        self.result_types[:] = [r.dtype for r in results]
        return [r.handle for r in results]


@operation("tt.reduce")
def _reduce(b: Any, operands: Any, attributes: Any, types: Any, regions: Any) -> list[np.ndarray]:
    axis, combine = attributes["axis"], regions[0]
    values = [np.moveaxis(x, axis, 0) for x in operands]
    # Neighbours are combined, then neighbours of the results: in order. One that has no neighbour
    # stays the last.
    while (count := values[0].shape[0]) > 1:
        paired = count - count % 2
        joined = combine(*[x[0:paired:2] for x in values], *[x[1:paired:2] for x in values])
        values = [
            np.concatenate((y, x[paired:])) if paired < count else y
            for x, y in zip(values, joined, strict=True)
        ]
    return [x[0] for x in values]


@operation("tt.scan")
def _scan(b: Any, operands: Any, attributes: Any, types: Any, regions: Any) -> list[np.ndarray]:
    axis, combine = attributes["axis"], regions[0]
    values = [np.moveaxis(x, axis, 0) for x in operands]
    if attributes["reverse"]:
        values = [x[::-1] for x in values]
    distance = 1
    while distance < values[0].shape[0]:
        joined = combine(*[x[:-distance] for x in values], *[x[distance:] for x in values])
        values = [np.concatenate((x[:distance], y)) for x, y in zip(values, joined, strict=True)]
        distance *= 2
    if attributes["reverse"]:
        values = [x[::-1] for x in values]
    return [np.moveaxis(x, 0, axis) for x in values]


@operation("tt.map_elementwise")
def _map(b: Any, operands: Any, attributes: Any, types: Any, regions: Any) -> list[np.ndarray]:
    pack = attributes["pack"]
    shape = operands[0].shape
    # Arguments are all elements of a pack of the first operand, then the next.
    arguments = [x.reshape(-1, pack)[:, i] for x in operands for i in range(pack)]
    results = regions[0](*arguments)
    count = len(results) // pack
    return [
        np.stack(results[k * pack : (k + 1) * pack], axis=-1).reshape(shape) for k in range(count)
    ]


@operation("tt.dot")
def _dot(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    x, y, acc = operands
    out = acc.dtype
    # Dots and sums in the accumulator's precision, at least float32.
    wide = out if out.kind == "i" or out.itemsize >= 4 else np.dtype(np.float32)
    return (np.matmul(x.astype(wide), y.astype(wide)) + acc.astype(wide)).astype(out)


_SCALED = {
    0: ml_dtypes.float8_e4m3fn, 1: ml_dtypes.float8_e5m2, 2: ml_dtypes.float6_e2m3fn,
    3: ml_dtypes.float6_e3m2fn, 4: ml_dtypes.float4_e2m1fn, 5: ml_dtypes.bfloat16, 6: np.float16,
}  # fmt: skip


def _unpack(x: np.ndarray, code: int, axis: int) -> np.ndarray:
    """An operand of dot_scaled as float64; 4-bit elements are packed along `axis`."""
    kind = np.dtype(_SCALED[code])
    if code == 4:
        pair = unsigned(x)
        nibbles = np.stack((pair & 15, pair >> 4), axis=-1)
        at = axis % x.ndim
        nibbles = np.moveaxis(nibbles, -1, at + 1)
        shape = list(x.shape)
        shape[at] *= 2
        values = nibbles.reshape(shape).view(kind).astype(np.float64)
    elif x.dtype.kind in "iu":
        values = unsigned(x).view(kind).astype(np.float64)
    else:
        values = x.astype(np.float64)
    return values


@operation("tt.dot_scaled")
def _dot_scaled(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    x, y, acc, *scales = operands
    has_x, has_y = attributes["operandSegmentSizes"][3:]
    x_scale = scales[0] if has_x else None
    y_scale = scales[-1] if has_y else None
    x = _unpack(x, attributes["a_elem_type"], -1 if attributes["lhs_k_pack"] else -2)
    y = _unpack(y, attributes["b_elem_type"], -2 if attributes["rhs_k_pack"] else -1)
    if x_scale is not None:
        x = x * _scales(x_scale, x.shape[-1])
    if y_scale is not None:
        # Scales of the right operand are by column, then by group of rows.
        y = y * np.swapaxes(_scales(y_scale, y.shape[-2]), -1, -2)
    # Exponents of float64 have room for all products of scaled elements.
    return (np.matmul(x, y) + acc.astype(np.float64)).astype(acc.dtype)


def _scales(scale: np.ndarray, extent: int) -> np.ndarray:
    """Powers of two (by their exponents), or floats without their sign, each for a group of
    elements."""
    values = unsigned(scale).view(ml_dtypes.float8_e8m0fnu) if scale.dtype.kind == "i" else scale
    return np.repeat(np.abs(values.astype(np.float64)), extent // scale.shape[-1], axis=-1)
