//===-- Wide.cpp - Functions for the host's widest vectors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Wide.h"
#include "Numeric.h"
#include "Program.h"

using namespace tile::sim;

bool tile::sim::hasAvx2() {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

/// By the host's instruction, which gives the same but for which NaN it is:
/// false if there is one.
TILE_AVX2 static bool fuseByHost(const float *a, const float *b, const float *c,
                                 float *out) {
  bool good = true;
  for (unsigned l = 0; l < Lanes; ++l) {
    float r = __builtin_fmaf(a[l], b[l], c[l]);
    good &= r == r;
    out[l] = r;
  }
  return good;
}

void tile::sim::fuseFloats(const float *a, const float *b, const float *c,
                           float *out) {
  if (hasAvx2() && fuseByHost(a, b, c, out))
    return;
  for (unsigned l = 0; l < Lanes; ++l)
    out[l] = fusedFloat(a[l], b[l], c[l]);
}
