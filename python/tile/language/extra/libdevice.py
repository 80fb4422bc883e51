"""Mathematical functions of the device library, by their C names.

Each takes fp32 or fp64, or integers where C's does, and blocks of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import SemanticError
from .. import dtypes as dt
from ..collective import extern_elementwise
from ..promotion import binary_operands, constant, is_constant, to_tensor
from ..values import builtin, tensor

# name: (arity, {argument type: (symbol, result type)})
_FLOAT_UNARY = """
acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf
erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p log2
logb nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh
tgamma trunc y0 y1
""".split()
_FLOAT_BINARY = "atan2 copysign fdim fmod hypot nextafter pow remainder".split()
_FAST_UNARY = {
    "fast_cosf": "cosf", "fast_exp10f": "exp10f", "fast_expf": "expf", "fast_log10f": "log10f",
    "fast_log2f": "log2f", "fast_logf": "logf", "fast_sinf": "sinf", "fast_tanf": "tanf",
}  # fmt: skip
_FAST_BINARY = {"fast_dividef": "fdividef", "fast_powf": "powf"}

_F32, _F64, _I32, _I64 = dt.float32, dt.float64, dt.int32, dt.int64
_TABLE: dict[str, tuple[int, dict[tuple[dt.dtype, ...], tuple[str, dt.dtype]]]] = {}
for _name in _FLOAT_UNARY:
    _TABLE[_name] = (1, {(_F32,): (f"__nv_{_name}f", _F32), (_F64,): (f"__nv_{_name}", _F64)})
for _name in _FLOAT_BINARY:
    _TABLE[_name] = (
        2,
        {(_F32, _F32): (f"__nv_{_name}f", _F32), (_F64, _F64): (f"__nv_{_name}", _F64)},
    )
for _name, _symbol in _FAST_UNARY.items():
    _TABLE[_name] = (1, {(_F32,): (f"__nv_fast_{_symbol}", _F32)})
for _name, _symbol in _FAST_BINARY.items():
    _TABLE[_name] = (2, {(_F32, _F32): (f"__nv_fast_{_symbol}", _F32)})
_TABLE.update({
    "abs": (1, {
        (_I32,): ("__nv_abs", _I32), (_I64,): ("__nv_llabs", _I64),
        (_F32,): ("__nv_fabsf", _F32), (_F64,): ("__nv_fabs", _F64),
    }),
    "clz": (1, {(_I32,): ("__nv_clz", _I32), (_I64,): ("__nv_clzll", _I32)}),
    "popc": (1, {(_I32,): ("__nv_popc", _I32), (_I64,): ("__nv_popcll", _I32)}),
    "ffs": (1, {(_I32,): ("__nv_ffs", _I32), (_I64,): ("__nv_ffsll", _I32)}),
    "brev": (1, {(_I32,): ("__nv_brev", _I32), (_I64,): ("__nv_brevll", _I64)}),
    "byte_perm": (3, {(_I32, _I32, _I32): ("__nv_byte_perm", _I32)}),
    "mulhi": (2, {(_I32, _I32): ("__nv_mulhi", _I32), (_I64, _I64): ("__nv_mul64hi", _I64)}),
    "isnan": (1, {(_F32,): ("__nv_isnanf", _I32), (_F64,): ("__nv_isnand", _I32)}),
    "isinf": (1, {(_F32,): ("__nv_isinff", _I32), (_F64,): ("__nv_isinfd", _I32)}),
    "finitef": (1, {(_F32,): ("__nv_finitef", _I32)}),
    "isfinited": (1, {(_F64,): ("__nv_isfinited", _I32)}),
    "signbit": (1, {(_F32,): ("__nv_signbitf", _I32), (_F64,): ("__nv_signbitd", _I32)}),
    "ilogb": (1, {(_F32,): ("__nv_ilogbf", _I32), (_F64,): ("__nv_ilogb", _I32)}),
    "fma": (3, {(_F32,) * 3: ("__nv_fmaf", _F32), (_F64,) * 3: ("__nv_fma", _F64)}),
    "norm3d": (3, {(_F32,) * 3: ("__nv_norm3df", _F32), (_F64,) * 3: ("__nv_norm3d", _F64)}),
    "rnorm3d": (3, {(_F32,) * 3: ("__nv_rnorm3df", _F32), (_F64,) * 3: ("__nv_rnorm3d", _F64)}),
    "ldexp": (2, {(_F32, _I32): ("__nv_ldexpf", _F32), (_F64, _I32): ("__nv_ldexp", _F64)}),
    "saturatef": (1, {(_F32,): ("__nv_saturatef", _F32)}),
    "rcp_rn": (1, {(_F32,): ("__nv_frcp_rn", _F32), (_F64,): ("__nv_drcp_rn", _F64)}),
    "div_rn": (2, {(_F32, _F32): ("__nv_fdiv_rn", _F32), (_F64, _F64): ("__nv_ddiv_rn", _F64)}),
    "div_rz": (2, {(_F32, _F32): ("__nv_fdiv_rz", _F32), (_F64, _F64): ("__nv_ddiv_rz", _F64)}),
    "sqrt_rn": (1, {(_F32,): ("__nv_fsqrt_rn", _F32), (_F64,): ("__nv_dsqrt_rn", _F64)}),
    "float_as_int": (1, {(_F32,): ("__nv_float_as_int", _I32)}),
    "int_as_float": (1, {(_I32,): ("__nv_int_as_float", _F32)}),
    "float2int_rn": (1, {(_F32,): ("__nv_float2int_rn", _I32)}),
    "float2int_rz": (1, {(_F32,): ("__nv_float2int_rz", _I32)}),
    "int2float_rn": (1, {(_I32,): ("__nv_int2float_rn", _F32)}),
    "llrint": (1, {(_F32,): ("__nv_llrintf", _I64), (_F64,): ("__nv_llrint", _I64)}),
    "llround": (1, {(_F32,): ("__nv_llroundf", _I64), (_F64,): ("__nv_llround", _I64)}),
})  # fmt: skip


def _signed(ty: dt.dtype) -> dt.dtype:
    return dt.get_int_dtype(ty.int_bitwidth, True) if ty.is_int() and ty.int_bitwidth >= 32 else ty


def _define(name: str, arity: int, overloads: dict) -> Callable[..., tensor]:
    def fn(*args: Any) -> tensor:
        if len(args) != arity:
            raise SemanticError(f"libdevice.{name} takes {arity} argument(s), not {len(args)}")
        values = list(args)
        model = next((v for v in values if isinstance(v, tensor)), None)
        for i, value in enumerate(values):
            if is_constant(value):
                if model is not None and (isinstance(value, int) or model.dtype.is_floating()):
                    values[i] = constant(value, model.dtype)
                else:
                    values[i] = to_tensor(value)
        if arity == 2 and name != "ldexp":
            values = list(binary_operands(values[0], values[1], f"libdevice.{name}"))
        found = overloads.get(tuple(_signed(v.dtype) for v in values))
        if found is None:
            allowed = "; ".join(", ".join(t.name for t in key) for key in overloads)
            got = ", ".join(v.dtype.name for v in values)
            raise SemanticError(f"libdevice.{name} takes {allowed}, not {got}")
        symbol, result = found
        return extern_elementwise(values, result, symbol)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"The device library's `{name}`."
    return builtin(fn)


for _name, (_arity, _overloads) in _TABLE.items():
    globals()[_name] = _define(_name, _arity, _overloads)

__all__ = list(_TABLE)
