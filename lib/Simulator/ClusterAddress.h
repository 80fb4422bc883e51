//===-- ClusterAddress.h - Shared memory of the CTAs of a cluster ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An address that names a CTA has a tag and the CTA's rank above the offset. As
// on hardware the rank's lowest bit is bit 24: programs clear it to reach the
// even CTA of a pair.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Program.h"

namespace tile::sim {

inline constexpr uint32_t clusterTag = 0x40;
inline constexpr uint32_t clusterOffsetMask = (1u << ClusterRankShift) - 1;

inline uint32_t clusterAddress(uint32_t offset, uint32_t rank) {
  return (offset & clusterOffsetMask) | (clusterTag | rank) << ClusterRankShift;
}
/// What is above the offset: 0 for an address that names no CTA.
inline uint32_t clusterPrefix(uint64_t address) {
  return uint32_t(address) >> ClusterRankShift;
}
/// The rank that an address with a prefix names; beyond any cluster if the
/// prefix is none.
inline uint32_t clusterRank(uint64_t address) {
  uint32_t prefix = clusterPrefix(address);
  return prefix & clusterTag ? prefix & ~clusterTag : ~0u;
}

} // namespace tile::sim
