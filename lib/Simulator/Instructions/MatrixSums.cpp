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

// The loops over columns, for wide vectors where the host has them. With
// sanitizers, which are not up when the choice is made, there is none.
#if defined(__x86_64__) && defined(__ELF__) && defined(__clang__)
#if !__has_feature(address_sanitizer)
#define TILE_WIDE __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef TILE_WIDE
#define TILE_WIDE
#endif

/// most = max(most, exponent + row) for all columns.
TILE_WIDE void raiseExponents(float *__restrict most, float exponent,
                              const float *__restrict row, unsigned n) {
  for (unsigned c = 0; c < n; ++c) {
    float sum = exponent + row[c];
    most[c] = most[c] < sum ? sum : most[c];
  }
}

/// Products of one row of B, in units of 1 / scale, toward zero.
TILE_WIDE void addNarrow(int32_t *sums, float x, const float *row,
                         const float *scale, unsigned n) {
  for (unsigned c = 0; c < n; ++c)
    sums[c] += int32_t(x * row[c] * scale[c]);
}
TILE_WIDE void addWide(int32_t *sums, double x, const float *row,
                       const double *scale, unsigned n) {
  for (unsigned c = 0; c < n; ++c)
    sums[c] += int32_t(x * double(row[c]) * scale[c]);
}
#undef TILE_WIDE
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
      raiseExponents(most, a.exponents[firstA + g + i],
                     &b.exponents[size_t(g + i) * n], n);
    }
    // Infinities and NaNs decide by themselves, where there are any.
    auto naiveSum = [&](unsigned c) {
      double sum = 0;
      for (unsigned i = 0; i < count; ++i)
        sum += double(a.values[firstA + g + i]) *
               double(b.values[size_t(g + i) * n + c]);
      return sum;
    };
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
    for (unsigned i = 0; i < count && isFinite; ++i) {
      float x = a.values[firstA + g + i];
      const float *row = &b.values[size_t(g + i) * n];
      if (x != 0 && isNarrow)
        addNarrow(sums, x, row, scale, n);
      else if (x != 0)
        addWide(sums, x, row, wideScale, n);
    }
    for (unsigned c = 0; c < n; ++c) {
      double special = isFinite ? 0 : naiveSum(c);
      if (!std::isfinite(special + acc[c])) {
        acc[c] = float(special + acc[c]);
        continue;
      }
      for (unsigned i = 0; i < count && !isFinite; ++i)
        addWide(&sums[c], a.values[firstA + g + i],
                &b.values[size_t(g + i) * n + c], &wideScale[c], 1);
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
