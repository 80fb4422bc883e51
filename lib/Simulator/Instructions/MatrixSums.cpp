//===-- MatrixSums.cpp - Sums as matrix instructions form them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MatrixSums.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace tile::sim;

namespace {
constexpr unsigned mostColumns = 256;

double powerOfTwo(int exponent) {
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

/// Toward zero, with `kept` bits behind the point.
float truncated(double value, int kept) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  int exponent = int(bits >> 52 & 2047) - 1023;
  // Subnormal floats have fewer bits.
  int dropped = 52 - kept + std::max(0, -126 - exponent);
  if (dropped > 52)
    return std::copysign(0.0f, float(value));
  return float(std::bit_cast<double>(bits >> dropped << dropped));
}

float rounded(double value, Type type, int kept) {
  return type == Type::F16 ? floatFromHalf(halfFromDouble(value))
                           : truncated(value, kept);
}

/// The products of one group for all columns: their sums in units of
/// 2^(most - fraction).
template <class T>
void addGroup(const SumOperand &a, size_t firstA, const SumOperand &b,
              size_t firstK, unsigned count, unsigned n, const T *scale,
              int32_t *sums) {
  for (unsigned i = 0; i < count; ++i) {
    T x = a.values[firstA + firstK + i];
    const float *row = &b.values[(firstK + i) * n];
    if (x != 0)
      for (unsigned c = 0; c < n; ++c)
        sums[c] += int32_t(x * T(row[c]) * scale[c]);
  }
}
} // namespace

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
  bool isFinite = a.isFinite && b.isFinite;
  // Floats hold all products and scales unless exponents are extreme.
  bool isNarrow = a.high + b.high < 120 && a.low + b.low > -100;
  for (unsigned g = 0; g < k; g += rule.group) {
    unsigned count = std::min(rule.group, k - g);
    float most[mostColumns];
    std::fill_n(most, n, 2 * SumOperand::none);
    for (unsigned i = 0; i < count; ++i) {
      float x = a.exponents[firstA + g + i];
      const float *row = &b.exponents[size_t(g + i) * n];
      for (unsigned c = 0; c < n; ++c)
        most[c] = std::max(most[c], x + row[c]);
    }
    float scale[mostColumns];
    double wideScale[mostColumns];
    int32_t sums[mostColumns] = {};
    for (unsigned c = 0; c < n; ++c) {
      uint32_t bits = bitsOfFloat(acc[c]) & 0x7fffffff;
      if (bits)
        most[c] = std::max(most[c], float(std::max(int(bits >> 23), 1) - 127));
      wideScale[c] =
          powerOfTwo(std::clamp(rule.fraction - int(most[c]), -1000, 1000));
      scale[c] = float(std::min(wideScale[c], 0x1p127));
    }
    if (isFinite && isNarrow)
      addGroup(a, firstA, b, g, count, n, scale, sums);
    else if (isFinite)
      addGroup(a, firstA, b, g, count, n, wideScale, sums);
    for (unsigned c = 0; c < n; ++c) {
      // Infinities and NaNs decide by themselves.
      if (!isFinite || !std::isfinite(acc[c])) {
        double sum = acc[c];
        for (unsigned i = 0; i < count; ++i)
          sum += double(a.values[firstA + g + i]) *
                 b.values[size_t(g + i) * n + c];
        acc[c] = rounded(sum, type, rule.kept);
        continue;
      }
      double sum = sums[c] + std::trunc(acc[c] * wideScale[c]);
      acc[c] = rounded(sum / wideScale[c], type, rule.kept);
    }
  }
  if (!rule.addsLast)
    return;
  for (unsigned c = 0; c < n; ++c)
    acc[c] = type == Type::F16
                 ? floatFromHalf(halfFromDouble(double(acc[c]) + start[c]))
                 : acc[c] + start[c];
}
