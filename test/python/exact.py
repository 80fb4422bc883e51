"""Number formats by their definition, in exact fractions: an oracle that shares no
code with what it judges (no NumPy, no ml_dtypes, no tables)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A binary floating-point format of at most 64 bits."""

    exponent_bits: int
    mantissa_bits: int
    #: Whether the largest exponent is for infinities and NaN; else only for one NaN.
    infinities: bool = True
    #: Whether conversions of what is too large give the largest number.
    saturates: bool = False

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        top = (2**self.exponent_bits - 1) << self.mantissa_bits
        return top - 1 if self.infinities else top + 2**self.mantissa_bits - 2

    def value(self, magnitude: int) -> Fraction:
        """The number with these bits, without a sign. Beyond the largest, the one that
        would come next."""
        exponent = magnitude >> self.mantissa_bits
        mantissa = magnitude & (2**self.mantissa_bits - 1)
        if exponent:
            mantissa += 2**self.mantissa_bits
        shift = max(exponent, 1) - self.bias - self.mantissa_bits
        return Fraction(mantissa << shift) if shift > 0 else Fraction(mantissa, 1 << -shift)

    def steps(self, x: Fraction) -> tuple[int, int, int]:
        """x >= 0 in steps of the format: the bits of the number that is not above it, and
        what is left, as a part of a step (a fraction)."""
        n, d = x.numerator, x.denominator
        exponent = n.bit_length() - d.bit_length()
        if n << max(-exponent, 0) < d << max(exponent, 0):
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        shift = self.mantissa_bits - exponent
        whole = d << max(-shift, 0)
        count, rest = divmod(n << max(shift, 0), whole)
        return ((exponent + self.bias - 1) << self.mantissa_bits) + count, rest, whole

    def below(self, x: Fraction) -> int:
        """The bits of the largest finite number that is not above x >= 0."""
        return min(self.steps(x)[0], self.largest)

    def nearest(self, x: Fraction) -> int:
        """The bits of the number nearest to x, ties to even; x is not zero."""
        sign = (x < 0) << (self.bits - 1)
        result, rest, whole = self.steps(abs(x))
        result += 2 * rest > whole or (2 * rest == whole and result & 1)
        if result > self.largest:
            infinity = (2**self.exponent_bits - 1) << self.mantissa_bits
            result = self.largest if self.saturates else infinity
        return sign | result

    def toward_zero(self, x: Fraction) -> int:
        """The bits of x cut to the format; x is not zero."""
        return (x < 0) << (self.bits - 1) | self.below(abs(x))


FORMATS = {
    "fp8e4nv": Format(4, 3, infinities=False, saturates=True),
    "fp8e5": Format(5, 2, saturates=True),
    "fp16": Format(5, 10),
    "bf16": Format(8, 7),
    "fp32": Format(8, 23),
    "fp64": Format(11, 52),
}
