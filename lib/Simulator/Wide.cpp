//===-- Wide.cpp - Functions for the host's widest vectors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Wide.h"
#include "Numeric.h"
#include "Program.h"

TILE_WIDE void tile::sim::fuseFloats(const float *a, const float *b,
                                     const float *c, float *out) {
  for (unsigned l = 0; l < Lanes; ++l)
    out[l] = fusedFloat(a[l], b[l], c[l]);
}
