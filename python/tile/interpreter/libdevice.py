"""Functions of the device library, by the symbols that kernels call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InterpreterError
from . import special
from .mathematics import fma
from .numbers import element_of, float_to_integer, unsigned
from .registry import operation
from .rounding import MODES, rounded
from .special import PI, Wide

#: symbol -> function(operands, element type of the result) -> array
SYMBOLS: dict[str, Callable[..., np.ndarray]] = {}


def _define(symbol: str, fn: Callable[..., Any]) -> None:
    """A function that computes in the type of its operands, or exactly."""
    SYMBOLS["__nv_" + symbol] = lambda operands, result: np.asarray(fn(*operands)).astype(result)


def _define_wide(name: str, fn: Callable[..., Any]) -> None:
    """A function of floats, of both types: in extended precision, rounded once."""

    def compute(operands: Any, result: np.dtype) -> np.ndarray:
        wide = [x.astype(Wide) if x.dtype.kind == "f" else x for x in operands]
        return np.asarray(fn(*wide)).astype(result)

    SYMBOLS[f"__nv_{name}f"] = SYMBOLS[f"__nv_{name}"] = compute


def _half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + Wide(0.5)), x)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x minus the multiple of y that is nearest to x, the even one of two."""
    y = np.abs(y)
    rest = np.fmod(np.abs(x), 2 * y)  # Exact, and tells even from odd.
    rest = np.where(rest > 3 * (y / 2), rest - 2 * y, rest)
    rest = np.where((rest > y / 2) & (rest < 3 * (y / 2)), rest - y, rest)
    rest = np.where(rest == 3 * (y / 2), rest - 2 * y, rest)
    result = np.where(np.signbit(x), -rest, rest)
    return np.where(np.isinf(y) & np.isfinite(x), x, result)


def _log_base(x: np.ndarray) -> np.ndarray:
    """The exponent of x."""
    exponent = np.frexp(x)[1] - Wide(1)
    return np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, np.where(x != x, x, exponent)))


def _turns(fn: Callable, x: np.ndarray) -> np.ndarray:
    """A function of pi times x; what is left of x after whole turns is exact."""
    return fn(np.fmod(x, 2) * PI)


def _norm(*values: np.ndarray) -> np.ndarray:
    total = np.sqrt(sum(v * v for v in values))
    infinite = np.any([np.isinf(v) for v in values], axis=0)
    return np.where(infinite, np.inf, total)


_WIDE: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "atan2": np.arctan2, "cbrt": np.cbrt, "ceil": np.ceil,
    "copysign": np.copysign, "cos": np.cos, "cosh": np.cosh, "erf": special.erf,
    "erfc": special.erfc, "erfcinv": special.erfc_inverse, "erfcx": special.erfcx,
    "erfinv": special.erf_inverse, "exp": np.exp, "exp10": lambda x: Wide(10) ** x,
    "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor, "fmod": np.fmod, "hypot": np.hypot,
    "cyl_bessel_i0": special.bessel_i(0), "cyl_bessel_i1": special.bessel_i(1),
    "j0": special.bessel_j(0), "j1": special.bessel_j(1), "y0": special.bessel_y(0),
    "y1": special.bessel_y(1), "lgamma": special.log_gamma, "log": np.log, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "logb": _log_base, "nearbyint": np.rint,
    "normcdf": special.normal_cdf, "normcdfinv": special.normal_quantile,
    "norm3d": _norm, "norm4d": _norm, "rnorm3d": lambda *v: 1 / _norm(*v),
    "rnorm4d": lambda *v: 1 / _norm(*v), "pow": np.power, "rcbrt": lambda x: 1 / np.cbrt(x),
    "remainder": _remainder, "rhypot": lambda x, y: 1 / np.hypot(x, y), "rint": np.rint,
    "round": _half_away, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "sinh": np.sinh,
    "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "tgamma": special.gamma, "trunc": np.trunc,
    "cospi": lambda x: _turns(np.cos, x), "sinpi": lambda x: _turns(np.sin, x),
    "powi": lambda x, n: x ** n.astype(Wide), "ldexp": np.ldexp, "scalbn": np.ldexp,
    "llrint": np.rint, "llround": _half_away,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(x <= y, 0, np.nan)),
}  # fmt: skip
for _name, _fn in _WIDE.items():
    _define_wide(_name, _fn)
for _name in ("cos", "exp10", "exp", "log10", "log2", "log", "sin", "tan", "tanh", "pow"):
    SYMBOLS[f"__nv_fast_{_name}f"] = SYMBOLS[f"__nv_{_name}f"]
_define("fast_fdividef", np.divide)
_define("powif", lambda x, n: x.astype(Wide) ** n.astype(Wide))
for _suffix in ("f", ""):
    _define("nextafter" + _suffix, np.nextafter)
    _define("fma" + _suffix, fma)
    for _name, _kind in {"jn": special.bessel_j, "yn": special.bessel_y}.items():

        def _of_order(n: np.ndarray, x: np.ndarray, kind: Any = _kind) -> np.ndarray:
            result = np.empty(np.broadcast_shapes(n.shape, x.shape), Wide)
            n, x = (np.broadcast_to(v, result.shape) for v in (n, x))
            for order in np.unique(n):
                result[n == order] = kind(int(order))(x[n == order])
            return result

        _define(_name + _suffix, _of_order)

# Rounded as one asks for.
for _mode in MODES:
    for _name in ("add", "sub", "mul", "div", "sqrt", "rcp", "rsqrt"):
        _define(f"f{_name}_{_mode}", rounded(_name, _mode))
        _define(f"d{_name}_{_mode}", rounded(_name, _mode))
    _define(f"fmaf_{_mode}", rounded("fma", _mode))
    _define(f"fma_{_mode}", rounded("fma", _mode))

_INTEGRAL = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
_KINDS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}


def _define_conversions(mode: str, source: str, kind: Any) -> None:
    convert = rounded("convert", mode)
    SYMBOLS[f"__nv_double2float_{mode}"] = lambda operands, result: convert(
        *operands, kind=np.float32
    )
    for suffix, integer in _KINDS.items():
        target = np.dtype(integer)

        def to_integer(operands: Any, result: np.dtype, target: np.dtype = target) -> np.ndarray:
            return float_to_integer(_INTEGRAL[mode](operands[0]), target).view(result)

        def to_float(operands: Any, result: np.dtype, target: np.dtype = target) -> np.ndarray:
            x = unsigned(operands[0]) if target.kind == "u" else operands[0]
            return convert(x, kind=result.type)

        SYMBOLS[f"__nv_{source}2{suffix}_{mode}"] = to_integer
        SYMBOLS[f"__nv_{suffix}2{source}_{mode}"] = to_float


for _mode in MODES:
    _define_conversions(_mode, "float", np.float32)
    _define_conversions(_mode, "double", np.float64)


# Bits and integers.


def _bit_count(x: np.ndarray) -> np.ndarray:
    raw = np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8)
    return np.unpackbits(raw, axis=1).sum(1).reshape(x.shape)


def _leading_zeros(x: np.ndarray) -> np.ndarray:
    x = unsigned(x)
    width = 8 * x.dtype.itemsize
    for shift in (1 << k for k in range(width.bit_length() - 1)):
        x = x | (x >> x.dtype.type(shift))
    return width - _bit_count(x)


def _reversed_bits(x: np.ndarray) -> np.ndarray:
    raw = np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8)[:, ::-1]
    bits = np.unpackbits(raw, axis=1)[:, ::-1]
    # Bytes from high to low, and the bits in each from high to low, reversed.
    return np.packbits(bits, axis=1)[:, ::-1].copy().view(x.dtype).reshape(x.shape)


def _bytes_permuted(x: np.ndarray, y: np.ndarray, selector: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(x.shape, y.shape, selector.shape)
    x, y, selector = (np.broadcast_to(v, shape).reshape(-1) for v in (x, y, selector))
    both = np.stack((x, y), 1).copy().view(np.uint8)
    picks = np.stack([(selector >> (4 * i)) & 7 for i in range(4)], 1)
    taken = np.take_along_axis(both, picks.astype(np.int64), 1).astype(np.uint8)
    return np.ascontiguousarray(taken).view(np.int32).reshape(shape)


def _high(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    from .elementwise import high_product

    # Of signed operands: the result for unsigned ones, less what negative ones add.
    return high_product(x, y) - np.where(x < 0, y, 0) - np.where(y < 0, x, 0)


def _long(x: np.ndarray) -> np.ndarray:
    return x.astype(np.int64)


def _long_unsigned(x: np.ndarray) -> np.ndarray:
    return unsigned(x).astype(np.int64)


def _define_integers() -> None:
    from .elementwise import high_product

    for prefix, wide in {"": _long, "u": _long_unsigned}.items():
        _define(prefix + "hadd", lambda x, y, w=wide: (w(x) + w(y)) >> 1)
        _define(prefix + "rhadd", lambda x, y, w=wide: (w(x) + w(y) + 1) >> 1)
        _define(prefix + "sad", lambda x, y, z, w=wide: np.abs(w(x) - w(y)) + _long(z))
    _define("mul24", lambda x, y: ((_long(x) << 40) >> 40) * ((_long(y) << 40) >> 40))
    _define("umul24", lambda x, y: (_long(x) & 0xFFFFFF) * (_long(y) & 0xFFFFFF))
    for name, fn in {"mulhi": _high, "mul64hi": _high, "umulhi": high_product,
                     "umul64hi": high_product}.items():  # fmt: skip
        _define(name, fn)
    for suffix in ("", "ll"):
        _define("popc" + suffix, _bit_count)
        _define("clz" + suffix, _leading_zeros)
        _define("ffs" + suffix, lambda x: np.where(x == 0, 0, _bit_count(x ^ (x - 1))))
        _define("brev" + suffix, _reversed_bits)


_define_integers()
for _name in ("abs", "llabs", "fabsf", "fabs"):
    _define(_name, np.abs)
_define("byte_perm", _bytes_permuted)
_define("float_as_int", lambda x: x.view(np.int32))
_define("float_as_uint", lambda x: x.view(np.int32))
_define("int_as_float", lambda x: x.view(np.float32))
_define("uint_as_float", lambda x: x.view(np.float32))
_define("double_as_longlong", lambda x: x.view(np.int64))
_define("longlong_as_double", lambda x: x.view(np.float64))
_define("double2hiint", lambda x: x.view(np.int64) >> 32)
_define("double2loint", lambda x: x.view(np.int64))
_define(
    "hiloint2double",
    lambda high, low: ((_long(high) << 32) | _long_unsigned(low)).view(np.float64),
)
_define("rcp64h", np.reciprocal)
_define("saturatef", lambda x: np.where(x != x, 0, np.clip(x, 0, 1)))
for _suffix, _bits in {"f": np.int32, "d": np.int64}.items():
    _define("signbit" + _suffix, lambda x, b=_bits: x.view(b) < 0)
    _define("isnan" + _suffix, np.isnan)
    _define("isinf" + _suffix, np.isinf)
_define("finitef", np.isfinite)
_define("isfinited", np.isfinite)
for _name in ("ilogb", "ilogbf"):
    _define(
        _name,
        lambda x: np.where(
            (x == 0) | np.isnan(x),
            np.iinfo(np.int32).min,
            np.where(np.isinf(x), np.iinfo(np.int32).max, np.frexp(x)[1] - 1),
        ),
    )


@operation("tt.extern_elementwise")
def _extern(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    symbol = attributes["symbol"]
    found = SYMBOLS.get(symbol)
    if found is None:
        raise InterpreterError(f"the interpreter does not know the device function `{symbol}`")
    return np.asarray(found(operands, element_of(types[0])))


#: What the language itself reads by assembly, by its first instruction.
_REGISTERS: dict[str, Callable[[], int]] = {
    "mov.u64 $0, %globaltimer;": time.monotonic_ns,
    "mov.u32 $0, %smid;": lambda: 0,
    "s_memrealtime $0": time.monotonic_ns,
    "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)": time.monotonic_ns,
    "s_getreg_b32 $0, hwreg(HW_REG_HW_ID, 8, 8)": lambda: 0,
    "s_getreg_b32 $0, hwreg(HW_REG_HW_ID1, 10, 11)": lambda: 0,
}


@operation("tt.elementwise_inline_asm")
def _assembly(b: Any, operands: Any, attributes: Any, types: Any) -> list[np.ndarray]:
    known = _REGISTERS.get(attributes["asm_string"].partition("\n")[0])
    if known is not None:
        b.clock = True
        return [np.asarray(known(), element_of(ty)) for ty in types]
    raise InterpreterError(
        "the interpreter cannot run inline assembly; choose another way of computing this when "
        "tile.knobs.runtime.interpret is set, or run the kernel in the simulator"
    )


__all__ = ["SYMBOLS"]
