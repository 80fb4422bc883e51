"""What the functions of the device library give: the docstrings of `libdevice`."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterable, Mapping

#: name: what it gives | the arguments of the example | its result. Numbers are of the function's
#: first types.
_TEXTS = """
abs: the absolute value of x | -3 | 3
acos: the arc cosine of x, in radians | 0.5 | 1.0471976
acosh: the inverse hyperbolic cosine of x | 2.0 | 1.316958
asin: the arc sine of x, in radians | 0.5 | 0.5235988
asinh: the inverse hyperbolic sine of x | 0.5 | 0.48121184
atan: the arc tangent of x, in radians | 1.0 | 0.7853982
atan2: the angle of the point (y, x), in radians | 1.0, 1.0 | 0.7853982
atanh: the inverse hyperbolic tangent of x | 0.5 | 0.54930615
brev: the bits of x in the opposite order | 1 | -2147483648
byte_perm: four of the eight bytes of x and y; each digit of z chooses one | 0, -1, 0x7654 | -1
cbrt: the cube root of x | 8.0 | 2
ceil: the least integer that is not below x | 1.5 | 2
clz: how many zero bits x begins with | 1 | 31
copysign: x with the sign of y | 2.0, -1.0 | -2
cos: the cosine of x, which is in radians | 0.0 | 1
cosh: the hyperbolic cosine of x | 0.0 | 1
cospi: the cosine of pi times x | 1.0 | -1
cyl_bessel_i0: the modified Bessel function of x, of the first kind and order 0 | 0.0 | 1
cyl_bessel_i1: the modified Bessel function of x, of the first kind and order 1 | 0.0 | 0
double2hiint: the upper 32 bits of x | 1.0 | 1072693248
double2loint: the lower 32 bits of x | 1.0 | 0
double_as_longlong: the bits of x as an integer | 1.0 | 4607182418800017408
erf: the error function of x | 0.5 | 0.5204999
erfc: 1 less the error function of x | 0.5 | 0.47950012
erfcinv: what the complementary error function gives x for | 1.0 | 0
erfcx: the complementary error function of x times exp(x * x) | 0.0 | 1
erfinv: what the error function gives x for | 0.5 | 0.47693628
exp: e to the power of x | 1.0 | 2.7182817
exp10: 10 to the power of x | 2.0 | 100
exp2: 2 to the power of x | 3.0 | 8
expm1: e to the power of x, less 1, which is exact where x is small | 0.0 | 0
fast_cosf: the cosine of x, approximately | 0.0 | 1
fast_dividef: x / y, approximately | 1.0, 4.0 | 0.25
fast_exp10f: 10 to the power of x, approximately | 0.0 | 1
fast_expf: e to the power of x, approximately | 0.0 | 1
fast_log10f: the decimal logarithm of x, approximately | 1.0 | 0
fast_log2f: the binary logarithm of x, approximately | 8.0 | 3
fast_logf: the natural logarithm of x, approximately | 1.0 | 0
fast_powf: x to the power of y, approximately | 2.0, 3.0 | 8
fast_sinf: the sine of x, approximately | 0.0 | 0
fast_tanf: the tangent of x, approximately | 0.0 | 0
fast_tanhf: the hyperbolic tangent of x, approximately | 0.0 | 0
fdim: x - y where x is larger, and 0 elsewhere | 3.0, 1.0 | 2
ffs: the position of the lowest bit that is set, from 1, or 0 | 8 | 4
finitef: whether x is neither infinite nor NaN | 1.0 | True
float_as_int: the bits of x as a signed integer | 1.0 | 1065353216
float_as_uint: the bits of x, as a signed integer | 1.0 | 1065353216
floor: the largest integer that is not above x | 1.5 | 1
fma: x * y + z, rounded once | 2.0, 3.0, 1.0 | 7
fmod: the rest of x / y, with the sign of x | 5.5, 2.0 | 1.5
hadd: the mean of x and y, rounded down, without overflow | 3, 6 | 4
hiloint2double: the float64 whose upper 32 bits are x and whose lower ones are y | 1072693248, 0 | 1
hypot: the square root of x * x + y * y, without overflow | 3.0, 4.0 | 5
ilogb: the binary exponent of x, as an integer | 10.0 | 3
int_as_float: the float32 with the bits of x | 1065353216 | 1
isfinited: whether x is neither infinite nor NaN | 1.0 | True
isinf: whether x is infinite | 1.0 | False
isnan: whether x is NaN | 1.0 | False
j0: the Bessel function of x, of the first kind and order 0 | 0.0 | 1
j1: the Bessel function of x, of the first kind and order 1 | 0.0 | 0
jn: the Bessel function of y, of the first kind and order x | 0, 0.0 | 1
ldexp: x times 2 to the power of y | 3.0, 2 | 12
lgamma: the logarithm of the absolute value of the gamma function of x | 1.0 | 0
llrint: x rounded to an int64; of two that are as near, the even one | 2.5 | 2
llround: x rounded to an int64; of two that are as near, the one away from 0 | 2.5 | 3
log: the natural logarithm of x | 1.0 | 0
log10: the decimal logarithm of x | 100.0 | 2
log1p: the natural logarithm of 1 + x, which is exact where x is small | 0.0 | 0
log2: the binary logarithm of x | 8.0 | 3
logb: the binary exponent of x, as a float | 10.0 | 3
longlong_as_double: the float64 with the bits of x | 4607182418800017408 | 1
mul24: x * y of the lower 24 bits of both | 3, 4 | 12
mulhi: the upper half of the bits of x * y | 1073741824, 8 | 2
nearbyint: x rounded to an integer; of two that are as near, the even one | 2.5 | 2
nextafter: the float next to x, in the direction of y | 1.0, 2.0 | 1.0000001
norm3d: the length of the vector (x, y, z) | 2.0, 3.0, 6.0 | 7
norm4d: the length of the vector (x, y, z, w) | 1.0, 1.0, 1.0, 1.0 | 2
normcdf: how much of a normal distribution is below x | 0.0 | 0.5
normcdfinv: below which value a normal distribution has the share x | 0.5 | 0
popc: how many bits of x are set | 7 | 3
pow: x to the power of y | 2.0, 3.0 | 8
rcbrt: 1 / the cube root of x | 8.0 | 0.5
rcp64h: 1 / x, of which only the upper 32 bits are right, approximately | 4.0 | 0.25
remainder: x less the multiple of y that is nearest to it | 5.5, 2.0 | -0.5
rhadd: the mean of x and y, rounded up, without overflow | 3, 6 | 5
rhypot: 1 / the square root of x * x + y * y | 3.0, 4.0 | 0.2
rint: x rounded to an integer; of two that are as near, the even one | 2.5 | 2
rnorm3d: 1 / the length of the vector (x, y, z) | 0.0, 3.0, 4.0 | 0.2
rnorm4d: 1 / the length of the vector (x, y, z, w) | 1.0, 1.0, 1.0, 1.0 | 0.5
round: x rounded to an integer; of two that are as near, the one away from 0 | 2.5 | 3
rsqrt: 1 / the square root of x | 4.0 | 0.5
rsqrt_rn: 1 / the square root of x, rounded to nearest | 4.0 | 0.5
sad: the absolute value of x - y, added to z | 3, 5, 1 | 3
saturatef: x, but 0 where it is below and 1 where it is above; NaN gives 0 | 1.5 | 1
scalbn: x times 2 to the power of y | 3.0, 2 | 12
signbit: 1 where x is negative or -0.0, and 0 elsewhere | 2.0 | 0
sin: the sine of x, which is in radians | 0.0 | 0
sinh: the hyperbolic sine of x | 0.0 | 0
sinpi: the sine of pi times x | 0.5 | 1
sqrt: the square root of x | 4.0 | 2
tan: the tangent of x, which is in radians | 0.0 | 0
tanh: the hyperbolic tangent of x | 0.5 | 0.46211717
tgamma: the gamma function of x | 5.0 | 24
trunc: x without what is behind the point | -1.5 | -1
uint_as_float: the float32 with the bits of x | 1065353216 | 1
y0: the Bessel function of x, of the second kind and order 0 | 1.0 | 0.08825697
y1: the Bessel function of x, of the second kind and order 1 | 1.0 | -0.7812128
yn: the Bessel function of y, of the second kind and order x | 0, 1.0 | 0.08825697
"""

_ROUNDED = {"rn": "to nearest", "rz": "towards zero", "ru": "up", "rd": "down"}
#: name, without its rounding: as above.
_ARITHMETIC = """
add: x + y | 1.0, 2.0 | 3
sub: x - y | 3.0, 1.0 | 2
mul: x * y | 2.0, 3.0 | 6
div: x / y | 1.0, 4.0 | 0.25
sqrt: the square root of x | 4.0 | 2
rcp: 1 / x | 4.0 | 0.25
fma: x * y + z | 2.0, 3.0, 1.0 | 7
"""
_KINDS = {
    "int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip
#: 2.5 as an integer.
_OF_A_HALF = {"rn": "2", "rz": "2", "ru": "3", "rd": "2"}

Row = tuple[str, str, str]


def _rows(text: str) -> dict[str, Row]:
    rows = {}
    for line in text.strip().splitlines():
        name, _, rest = line.partition(": ")
        meaning, arguments, result = (part.strip() for part in rest.split("|"))
        rows[name] = (meaning, arguments, result)
    return rows


def _of_rounding(name: str, arithmetic: Mapping[str, Row]) -> Row | None:
    """Of functions whose names end in how they round."""
    base, _, mode = name.rpartition("_")
    if mode not in _ROUNDED:
        return None
    if base in arithmetic:
        meaning, arguments, result = arithmetic[base]
        return f"{meaning}, rounded {_ROUNDED[mode]}", arguments, result
    source, _, target = base.partition("2")
    if source not in _KINDS or target not in _KINDS:
        return None
    meaning = f"x, of the type {_KINDS[source]}, as {_KINDS[target]}, rounded {_ROUNDED[mode]}"
    if target.startswith("u"):
        meaning += "; the bits come as a signed integer"
    if source not in ("float", "double"):
        return meaning, "3", "3"
    return meaning, "2.5", _OF_A_HALF[mode] if target not in ("float", "double") else "2.5"


def rows(names: Iterable[str]) -> dict[str, Row]:
    """What each function gives, the arguments of its example, and the result of that."""
    known, arithmetic = _rows(_TEXTS), _rows(_ARITHMETIC)
    found = {name: known.get(name) or _of_rounding(name, arithmetic) for name in names}
    return {name: row for name, row in found.items() if row is not None}


@functools.cache
def _wrapped(text: str) -> str:
    """Functions of the same types share it: wrapping each took a tenth of `import tile`."""
    return textwrap.fill(text, 92)


def docstring(name: str, row: Row, types: list[tuple[str, ...]]) -> str:
    """Of a function with these overloads."""
    meaning, arguments, result = row
    numbers = arguments.split(", ")
    blocks = [
        f"tl.full([1], {number}, tl.{kind})" for number, kind in zip(numbers, types[0], strict=True)
    ]
    spelled = " or ".join(k[0] if len(k) == 1 else f"({', '.join(k)})" for k in types)
    shape = "A scalar or a block of any shape, which the result has, too."
    if len(numbers) > 1:
        shape = "Scalars or blocks, which are broadcast to one shape; the result has it."
    is_float = types[0][-1].startswith("float")
    wrong = "tl.arange(0, 4)" if is_float else "tl.zeros([4], tl.float16)"
    refused = f"libdevice.{name}({', '.join([wrong] * len(numbers))})"
    first = meaning if meaning.startswith("x") else meaning[0].upper() + meaning[1:]
    shape = _wrapped(f"{shape} The types are {spelled}.")
    return (
        f"{first}.\n\n{shape}\n\n"
        f"Refused: ``{refused}``.\n\n"
        f">>> libdevice.{name}({', '.join(blocks)})\n{result}\n"
    )
