"""Mathematical functions of the device library, by their C names.

Each takes fp32 or fp64, or integers where C's does, and blocks of them. The
suffixes rn, rz, ru and rd say how a result is rounded: to nearest, towards
zero, up, down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...errors import SemanticError
from .. import dtypes as dt
from ..collective import extern_elementwise
from ..conversion import to_bool
from ..promotion import binary_operands, constant, is_constant, to_tensor
from ..values import builtin, tensor
from .libdevice_docs import docstring, rows

_I32, _U32, _I64, _U64 = dt.int32, dt.uint32, dt.int64, dt.uint64
_F32, _F64 = dt.float32, dt.float64
_ROUNDINGS = ("rn", "rz", "ru", "rd")

# name -> {types of the arguments: (symbol, type of the result)}
_TABLE: dict[str, dict[tuple[dt.dtype, ...], tuple[str, dt.dtype]]] = {}


def _add(name: str, arguments: tuple[dt.dtype, ...], symbol: str, result: dt.dtype) -> None:
    _TABLE.setdefault(name, {})[arguments] = ("__nv_" + symbol, result)


# Functions of floats to floats; C's name ends in f for fp32.
_FLOATS = {
    1: """
    acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf
    erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p log2 logb
    nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma
    trunc y0 y1
    """,
    2: "atan2 copysign fdim fmod hypot nextafter pow remainder rhypot",
    3: "fma norm3d rnorm3d",
    4: "norm4d rnorm4d",
}
for _arity, _names in _FLOATS.items():
    for _name in _names.split():
        _add(_name, (_F32,) * _arity, _name + "f", _F32)
        _add(_name, (_F64,) * _arity, _name, _F64)

# Arithmetic with a rounding of one's choice.
for _mode in _ROUNDINGS:
    for _name, _arity in {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "rcp": 1}.items():
        _add(f"{_name}_{_mode}", (_F32,) * _arity, f"f{_name}_{_mode}", _F32)
        _add(f"{_name}_{_mode}", (_F64,) * _arity, f"d{_name}_{_mode}", _F64)
    _add(f"fma_{_mode}", (_F32,) * 3, f"fmaf_{_mode}", _F32)
    _add(f"fma_{_mode}", (_F64,) * 3, f"fma_{_mode}", _F64)
_add("rsqrt_rn", (_F32,), "frsqrt_rn", _F32)

# Conversions. Those to an unsigned type give its bits as the signed type.
for _mode in _ROUNDINGS:
    _add(f"double2float_{_mode}", (_F64,), f"double2float_{_mode}", _F32)
    for _prefix, _float in {"float": _F32, "double": _F64}.items():
        for _suffix, _result in {"int": _I32, "uint": _I32, "ll": _I64, "ull": _I64}.items():
            _name = f"{_prefix}2{_suffix}_{_mode}"
            _add(_name, (_float,), _name, _result)
        for _suffix, _int in {"int": _I32, "uint": _U32, "ll": _I64, "ull": _U64}.items():
            if _float is _F64 and _int in (_I32, _U32) and _mode != "rn":
                continue  # Always exact.
            _name = f"{_suffix}2{_prefix}_{_mode}"
            _add(_name, (_int,), _name, _float)

# Approximations.
for _name in "cosf exp10f expf log10f log2f logf sinf tanf tanhf".split():
    _add(f"fast_{_name}", (_F32,), f"fast_{_name}", _F32)
_add("fast_dividef", (_F32, _F32), "fast_fdividef", _F32)
_add("fast_powf", (_F32, _F32), "fast_powf", _F32)

# The rest: "name: arguments -> symbol result; ...".
_TYPES = {"i": _I32, "u": _U32, "l": _I64, "m": _U64, "f": _F32, "d": _F64}
_OTHERS = """
abs: i -> abs i, l -> llabs l, f -> fabsf f, d -> fabs d
brev: i -> brev i, l -> brevll l
byte_perm: iii -> byte_perm i
clz: i -> clz i, l -> clzll i
double2hiint: d -> double2hiint i
double2loint: d -> double2loint i
double_as_longlong: d -> double_as_longlong l
ffs: i -> ffs i, l -> ffsll i
finitef: f -> finitef i
float_as_int: f -> float_as_int i
float_as_uint: f -> float_as_uint i
hadd: ii -> hadd i, uu -> uhadd u
hiloint2double: ii -> hiloint2double d
ilogb: f -> ilogbf i, d -> ilogb i
int_as_float: i -> int_as_float f
isfinited: d -> isfinited i
isinf: f -> isinff i, d -> isinfd i
isnan: f -> isnanf i, d -> isnand i
jn: if -> jnf f, id -> jn d
ldexp: fi -> ldexpf f, di -> ldexp d
llrint: f -> llrintf l, d -> llrint l
llround: f -> llroundf l, d -> llround l
longlong_as_double: l -> longlong_as_double d
mul24: ii -> mul24 i, uu -> umul24 u
mulhi: ii -> mulhi i, uu -> umulhi u, ll -> mul64hi l, mm -> umul64hi m
popc: i -> popc i, l -> popcll i
pow: fi -> powif f, di -> powi d
rcp64h: d -> rcp64h d
rhadd: ii -> rhadd i, uu -> urhadd u
sad: iiu -> sad i, uuu -> usad u
saturatef: f -> saturatef f
scalbn: fi -> scalbnf f, di -> scalbn d
signbit: f -> signbitf i, d -> signbitd i
uint_as_float: u -> uint_as_float f
yn: if -> ynf f, id -> yn d
"""
for _line in _OTHERS.strip().splitlines():
    _name, _, _overloads = _line.partition(":")
    for _overload in _overloads.split(","):
        _arguments, _symbol, _result = _overload.replace("->", " ").split()
        _add(_name, tuple(_TYPES[t] for t in _arguments), _symbol, _TYPES[_result])

#: Functions whose int32 only says yes or no.
_PREDICATES = ("finitef", "isfinited", "isinf", "isnan")


def _signed(ty: dt.dtype) -> dt.dtype:
    return dt.get_int_dtype(ty.int_bitwidth, True) if ty.is_int() and ty.int_bitwidth >= 32 else ty


def _find(values: list[tensor], overloads: dict) -> tuple[str, dt.dtype] | None:
    """The overload for values: as they are, or else with integers as signed."""
    found = overloads.get(tuple(v.dtype for v in values))
    return found or overloads.get(tuple(_signed(v.dtype) for v in values))


def _like(values: list[Any]) -> list[Any]:
    """Constants take the type of the first tensor among the values."""
    model = next((v for v in values if isinstance(v, tensor)), None)
    if model is None:
        return values
    return [
        constant(v, model.dtype)
        if is_constant(v) and (isinstance(v, int) or model.dtype.is_floating())
        else v
        for v in values
    ]


def _listed(types: Iterable[dt.dtype]) -> str:
    names = [t.name for t in types]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _define(name: str, overloads: dict) -> Callable[..., tensor]:
    arity = len(next(iter(overloads)))

    def fn(*args: Any) -> tensor:
        if len(args) != arity:
            raise SemanticError(f"libdevice.{name} takes {arity} argument(s), not {len(args)}")
        values = [to_tensor(v) for v in args]
        found = _find(values, overloads)
        if found is None and len(values) > 1:
            values = [to_tensor(v) for v in _like(list(args))]
            if arity == 2 and _find(values, overloads) is None:
                values = list(binary_operands(values[0], values[1], f"libdevice.{name}"))
            found = _find(values, overloads)
        if found is None:
            allowed = " or ".join(_listed(key) for key in overloads)
            got = _listed([v.dtype for v in values])
            raise SemanticError(f"libdevice.{name} takes {allowed}, not {got}")
        result = extern_elementwise(values, found[1], found[0])
        return to_bool(result) if name in _PREDICATES else result

    fn.__name__ = fn.__qualname__ = name
    row = _ROWS.get(name)
    if row is not None:
        kinds = [tuple(_SPELLED.get(t.name, t.name) for t in key) for key in overloads]
        fn.__doc__ = docstring(name, row, kinds)
    fn.__tile_arity__ = arity  # type: ignore[attr-defined]
    return builtin(fn)


_ROWS = rows(_TABLE)
_SPELLED = {"fp32": "float32", "fp64": "float64"}
for _name, _overloads in _TABLE.items():
    globals()[_name] = _define(_name, _overloads)

__all__ = sorted(_TABLE)
