"""Random numbers by Philox, a counter-based generator: the same seed and
offset give the same numbers, on every machine."""

from __future__ import annotations

from ..runtime.jit import constexpr_function, jit
from . import dtypes as dt
from . import math
from .arithmetic import maximum, where
from .creation import zeros_like
from .math import umulhi
from .program import static_assert, static_range
from .promotion import to_tensor
from .values import builtin, constexpr, tensor

# Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
_KEY_A = {32: 0x9E3779B9, 64: 0x9E3779B97F4A7C15}
_KEY_B = {32: 0xBB67AE85, 64: 0xBB67AE8584CAA73B}
_ROUND_A = {32: 0xD2511F53, 64: 0xD2E7470EE14C6C93}
_ROUND_B = {32: 0xCD9E8D57, 64: 0xCA5A826395121157}
N_ROUNDS_DEFAULT = constexpr(10)


@builtin
def _run_time(value) -> tensor:
    return to_tensor(value)


@builtin
def _unsigned(value, bits: int) -> tensor:
    """The value as an unsigned integer of this width, keeping its bits."""
    from .conversion import cast

    value = to_tensor(value)
    return cast(value, dt.get_int_dtype(bits, False))


@constexpr_function
def _width(dtype):
    return dtype.int_bitwidth


@constexpr_function
def _constants(dtype):
    """What Philox adds to its keys and multiplies by, for a width of integers."""
    if dtype.int_bitwidth not in _KEY_A:
        raise ValueError(f"Philox takes integers of 32 or 64 bits, not {dtype}")
    return [table[dtype.int_bitwidth] for table in (_KEY_A, _KEY_B, _ROUND_A, _ROUND_B)]


@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """`n_rounds` rounds of Philox 4x32 (or 4x64) on a counter and a key."""
    constants: constexpr = _constants(c0.dtype)
    for _ in static_range(n_rounds):
        old_c0, old_c2 = c0, c2
        c0 = umulhi(constants[3], old_c2) ^ c1 ^ k0
        c2 = umulhi(constants[2], old_c0) ^ c3 ^ k1
        c1 = old_c2 * constants[3]
        c3 = old_c0 * constants[2]
        k0 = k0 + constants[0]
        k1 = k1 + constants[1]
    return c0, c1, c2, c3


@jit
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random integers from a 64-bit seed and a counter.

    They have 32 bits, or 64 if `c0` has.

    Refused: ``tl.philox(1.5, tl.arange(0, 4), 0, 0, 0)``.

    >>> a, b, c, d = tl.philox(0, tl.arange(0, 2), 0, 0, 0)
    >>> a == tl.randint(0, tl.arange(0, 2))
    [1 1]
    """
    seed = _run_time(seed)
    static_assert(seed.dtype.is_int(), "a seed of random numbers is an integer")
    wide = _unsigned(seed.to(dt.int64) if seed.dtype.is_int_signed() else seed, 64)
    if _width(_run_time(c0).dtype) == 64:
        return philox_impl(
            _unsigned(c0, 64),
            _unsigned(c1, 64),
            _unsigned(c2, 64),
            _unsigned(c3, 64),
            wide,
            zeros_like(wide),
            n_rounds,
        )
    high = ((wide >> 32) & 0xFFFFFFFF).to(dt.uint32)
    low = (wide & 0xFFFFFFFF).to(dt.uint32)
    return philox_impl(
        _unsigned(c0, 32),
        _unsigned(c1, 32),
        _unsigned(c2, 32),
        _unsigned(c3, 32),
        low,
        high,
        n_rounds,
    )


@jit
def randint(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """One random 32-bit integer for each offset.

    `offset` is an integer or a block of them. The same seed and offset give the same number.

    Refused: ``tl.randint(p, tl.arange(0, 4))``.

    >>> tl.randint(0, tl.arange(0, 2)) == tl.randint(0, tl.arange(0, 2))
    [1 1]
    """
    value, _, _, _ = randint4x(seed, offset, n_rounds)
    return value


@jit
def randint4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random 32-bit integers for each offset.

    It costs as much as one call of `tl.randint`.

    Refused: ``tl.randint4x(p, tl.arange(0, 4))``.

    >>> a, b, c, d = tl.randint4x(0, tl.arange(0, 2))
    >>> a == tl.randint(0, tl.arange(0, 2))
    [1 1]
    """
    offset = _run_time(offset)
    if _width(offset.dtype) > 32:
        low = _unsigned(offset & 0xFFFFFFFF, 32)
        high = _unsigned((offset >> 32) & 0xFFFFFFFF, 32)
    else:
        low = _unsigned(offset, 32)
        high = zeros_like(low)
    zero = zeros_like(low)
    return philox(seed, low, high, zero, zero, n_rounds)


@jit
def uint_to_uniform_float(x):
    """A float in [0, 1) from an integer of 32 or 64 random bits.

    Refused: ``tl.uint_to_uniform_float(1.5)``.

    >>> tl.uint_to_uniform_float(tl.zeros([2], tl.uint32)) < 1
    [1 1]
    """
    bits = _signed(x)
    # Folding the negative half keeps all but one of the random bits. The factor
    # is a little less than 2^-31 (2^-63), so that no result is 1.
    bits = where(bits < 0, ~bits, bits)
    return bits * (4.6566127342e-10 if _width(x.dtype) == 32 else 1.0842020432385337e-19)


@builtin
def _signed(value) -> tensor:
    from .conversion import cast

    return cast(value, dt.get_int_dtype(value.dtype.int_bitwidth, True))


@jit
def rand(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A float32 in [0, 1) for each offset.

    `offset` is an integer or a block of them. The same seed and offset give the same number.

    Refused: ``tl.rand(p, tl.arange(0, 4))``.

    >>> tl.rand(0, tl.arange(0, 4)) < 1
    [1 1 1 1]
    """
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed, offsets, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four float32 in [0, 1) for each offset.

    It costs as much as one call of `tl.rand`.

    Refused: ``tl.rand4x(p, tl.arange(0, 4))``.

    >>> a, b, c, d = tl.rand4x(0, tl.arange(0, 2))
    >>> (a < 1) & (d >= 0)
    [1 1]
    """
    i1, i2, i3, i4 = randint4x(seed, offsets, n_rounds)
    return (
        uint_to_uniform_float(i1),
        uint_to_uniform_float(i2),
        uint_to_uniform_float(i3),
        uint_to_uniform_float(i4),
    )


@jit
def pair_uniform_to_normal(u1, u2):
    """Two normally distributed numbers from two uniform ones (Box-Muller).

    Refused: ``tl.pair_uniform_to_normal(p, p)``.

    >>> a, b = tl.pair_uniform_to_normal(tl.full([2], 0.5, tl.float32), tl.zeros([2], tl.float32))
    >>> b
    [0 0]
    """
    u1 = maximum(1.0e-7, u1)
    theta = 6.283185307179586 * u2
    radius = math.sqrt(-2.0 * math.log(u1))
    return radius * math.cos(theta), radius * math.sin(theta)


@jit
def randn(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A normally distributed float32 for each offset.

    `offset` is an integer or a block of them. The same seed and offset give the same number.

    Refused: ``tl.randn(p, tl.arange(0, 4))``.

    >>> tl.abs(tl.randn(0, tl.arange(0, 2))) < 10
    [1 1]
    """
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    first, _ = pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))
    return first


@jit
def randn4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four normally distributed float32 for each offset.

    It costs as much as two calls of `tl.randn`.

    Refused: ``tl.randn4x(p, tl.arange(0, 4))``.

    >>> a, b, c, d = tl.randn4x(0, tl.arange(0, 2))
    >>> tl.abs(d) < 10
    [1 1]
    """
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
