//===-- Origins.h - Which arguments registers come from -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Wave.h"

namespace tile::sim::amdgcn {

/// Where the values of a wave's registers come from, as Frame::origins keeps
/// it: one for each scalar register, one for each lane of a vector register.
/// Before them is where the addresses of the access under way come from, lane
/// by lane, for the DisjointChecker.
class Origins {
public:
  static constexpr unsigned lanes = 64; ///< also where waves have fewer

  explicit Origins(Frame &frame) : all(frame.origins.data()) {}
  /// For a wave that starts: nothing comes from anywhere.
  static void start(const WaveProgram &p, Frame &frame);

  Origin *ofAddress() const { return all; }
  /// By the numbers of RegisterUse.
  Origin &ofScalar(uint32_t reg) const { return all[lanes + reg]; }
  Origin *ofVector(uint32_t reg) const {
    return all + lanes + FirstVector + (reg - FirstVector) * lanes;
  }

private:
  Origin *all;
};

/// Notes where the address of an instruction that is about to run comes from,
/// and where its results will.
void trackOrigins(Ctx &c, const Inst &inst);

} // namespace tile::sim::amdgcn
