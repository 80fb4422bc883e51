//===-- MatrixSums.cpp - Sums as matrix instructions form them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MatrixSums.h"
#include "../../Wide.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace tile::sim;

namespace {
constexpr unsigned mostColumns = 256;

double powerOfTwo(int exponent) {
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

/// Toward zero, with `kept` bits behind the point. Zero has no sign.
float truncated(double value, int kept) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  int exponent = int(bits >> 52 & 2047) - 1023;
  // Subnormal floats have fewer bits.
  int dropped = 52 - kept + std::max(0, -126 - exponent);
  if (dropped > 52)
    return 0;
  return float(std::bit_cast<double>(bits >> dropped << dropped));
}

float rounded(double value, Type type, int kept) {
  return type == Type::F16 ? floatFromHalf(halfFromDouble(value)) + 0.0f
                           : truncated(value, kept);
}

/// The sum of one column multiplied by rows `first` to `first + count` of B,
/// and `acc`, in double precision, whatever the numbers are.
float addColumn(const SumRule &rule, Type type, const SumOperand &a,
                size_t firstA, const SumOperand &b, size_t firstB, unsigned n,
                unsigned count, float acc) {
  float most = 2 * SumOperand::none;
  double special = acc;
  for (unsigned i = 0; i < count; ++i) {
    most = std::max(most, a.exponents[firstA + i] +
                              b.exponents[firstB + size_t(i) * n]);
    special +=
        double(a.values[firstA + i]) * double(b.values[firstB + size_t(i) * n]);
  }
  // Infinities and NaNs decide by themselves.
  if (!std::isfinite(special))
    return float(special);
  if (uint32_t bits = bitsOfFloat(acc) & 0x7fffffff)
    most = std::max(most, float(std::max(int(bits >> 23), 1) - 127));
  double scale = powerOfTwo(std::clamp(rule.fraction - int(most), -1000, 1000));
  double sum = std::trunc(acc * scale);
  for (unsigned i = 0; i < count; ++i)
    sum += std::trunc(double(a.values[firstA + i]) *
                      double(b.values[firstB + size_t(i) * n]) * scale);
  return rounded(sum / scale, type, rule.kept);
}

// Eight columns side by side, wherever floats hold all that is multiplied, and
// scales.
constexpr unsigned columns = 8;
typedef float Floats __attribute__((vector_size(columns * 4)));
typedef int32_t Words __attribute__((vector_size(columns * 4)));
typedef int64_t Longs __attribute__((vector_size(columns * 8)));
typedef double Doubles __attribute__((vector_size(columns * 8)));
/// As they lie in memory.
typedef Floats AnyFloats __attribute__((aligned(4)));

/// Nothing below is small enough for the exponents to be those of subnormals.
constexpr float leastMost = -100;

/// Adds `count` multiplied pairs to each of `n` sums. `rejected` tells the
/// columns that are left to addColumn, a bit for each eight of them.
TILE_WIDE void addColumns(const SumRule &rule, bool isHalf, const float *a,
                          const float *exponentsA, const float *b,
                          const float *exponentsB, unsigned count, unsigned n,
                          float *acc, uint32_t &rejected) {
  const int64_t kept = int64_t(~0ull << (52 - rule.kept));
  for (unsigned c = 0; c < n; c += columns) {
    Floats old = *reinterpret_cast<AnyFloats *>(acc + c);
    Words magnitude = reinterpret_cast<Words>(old) & 0x7fffffff;
    Words exponent = magnitude >> 23;
    exponent = (exponent > 1 ? exponent : exponent * 0 + 1) - 127;
    Floats most = __builtin_convertvector(exponent, Floats);
    most = magnitude != 0 ? most : most * 0 + 2 * SumOperand::none;
    for (unsigned i = 0; i < count; ++i) {
      Floats sum =
          *reinterpret_cast<const AnyFloats *>(exponentsB + size_t(i) * n + c) +
          exponentsA[i];
      most = most > sum ? most : sum;
    }
    // Sums of nothing but zeros have the exponent of none.
    Words unusual = (magnitude >= 0x7f800000) |
                    ((most < leastMost) & (most > SumOperand::none / 2));
    bool isUnusual = false;
    for (unsigned lane = 0; lane < columns; ++lane)
      isUnusual |= unusual[lane] != 0;
    if (isUnusual) {
      rejected |= 1u << (c / columns);
      continue;
    }
    most = most > leastMost ? most : most * 0 + leastMost;
    Words shift = rule.fraction - __builtin_convertvector(most, Words);
    Floats scale = reinterpret_cast<Floats>((shift + 127) << 23);
    Words sums = {};
    for (unsigned i = 0; i < count; ++i) {
      Floats row = *reinterpret_cast<const AnyFloats *>(b + size_t(i) * n + c);
      sums += __builtin_convertvector(row * a[i] * scale, Words);
    }
    Doubles sum = __builtin_convertvector(sums, Doubles) +
                  __builtin_convertvector(
                      __builtin_convertvector(old * scale, Words), Doubles);
    sum *= reinterpret_cast<Doubles>(
        (1023 - __builtin_convertvector(shift, Longs)) << 52);
    if (isHalf)
      for (unsigned lane = 0; lane < columns; ++lane)
        acc[c + lane] = rounded(sum[lane], Type::F16, rule.kept);
    else
      *reinterpret_cast<AnyFloats *>(acc + c) = __builtin_convertvector(
          reinterpret_cast<Doubles>(reinterpret_cast<Longs>(sum) & kept),
          Floats);
  }
}

TILE_WIDE void findExponents(const float *values, size_t count, int least,
                             float *exponents, bool &isFinite, int &low,
                             int &high) {
  constexpr int extreme = 1000;
  uint32_t most = 0;
  low = extreme, high = -extreme;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = bitsOfFloat(values[i]) & 0x7fffffff;
    int exponent = std::max(int(bits >> 23) - 127, least);
    exponents[i] = bits ? float(exponent) : SumOperand::none;
    most = std::max(most, bits);
    low = std::min(low, bits ? exponent : extreme);
    high = std::max(high, bits ? exponent : -extreme);
  }
  isFinite = most < 0x7f800000;
}
#undef TILE_WIDE
} // namespace

void SumOperand::findExponents(int least) {
  exponents.resize(values.size());
  ::findExponents(values.data(), values.size(), least, exponents.data(),
                  isFinite, low, high);
}

int tile::sim::leastExponent(Type element, bool isWarpGroup) {
  switch (element) {
  case Type::F16:
    return -14;
  case Type::E4M3:
  case Type::E5M2:
    // mma.sync turns them into halves first.
    return isWarpGroup && element == Type::E4M3 ? -6 : -14;
  default:
    return -126;
  }
}

void tile::sim::addMatrixRow(const SumRule &rule, Type type,
                             const SumOperand &a, size_t firstA,
                             const SumOperand &b, unsigned k, unsigned n,
                             float *acc) {
  float start[mostColumns];
  if (rule.addsLast) {
    std::copy_n(acc, n, start);
    std::fill_n(acc, n, 0.0f);
  }
  // Floats hold all that is multiplied, and scales, unless exponents are
  // extreme.
  bool isUsual = a.isFinite && b.isFinite && a.high + b.high < 120 &&
                 a.low + b.low > int(leastMost);
  for (unsigned g = 0; g < k; g += rule.group) {
    unsigned count = std::min(rule.group, k - g);
    size_t row = firstA + g, first = size_t(g) * n;
    uint32_t rejected = ~0u;
    if (isUsual) {
      rejected = 0;
      addColumns(rule, type == Type::F16, &a.values[row], &a.exponents[row],
                 &b.values[first], &b.exponents[first], count, n, acc,
                 rejected);
    }
    for (unsigned c = 0; c < n && rejected; ++c)
      if (rejected >> (c / columns) & 1)
        acc[c] = addColumn(rule, type, a, row, b, first + c, n, count, acc[c]);
  }
  if (!rule.addsLast)
    return;
  for (unsigned c = 0; c < n; ++c)
    acc[c] = type == Type::F16
                 ? floatFromHalf(halfFromDouble(double(acc[c]) + start[c]))
                 : acc[c] + start[c];
}
