//===-- Wide.h - Functions for the host's widest vectors ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

// TILE_WIDE before a function: one version for each width of vectors, chosen
// when the program starts; all give the same bits. With sanitizers, which are
// not up when the choice is made, there is one version.
#if defined(__x86_64__) && defined(__ELF__) && defined(__clang__)
#if !__has_feature(address_sanitizer)
#define TILE_WIDE __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef TILE_WIDE
#define TILE_WIDE
#endif

// Templates cannot have versions. One with TILE_AVX2 stands beside the plain
// one, and hasAvx2() chooses.
#if defined(__x86_64__)
#define TILE_AVX2 __attribute__((target("avx2,fma")))
#else
#define TILE_AVX2
#endif

namespace tile::sim {
bool hasAvx2(); ///< with fused multiply-add, which came together

/// fusedFloat (Numeric.h) of 32 lanes.
void fuseFloats(const float *a, const float *b, const float *c, float *out);
} // namespace tile::sim
