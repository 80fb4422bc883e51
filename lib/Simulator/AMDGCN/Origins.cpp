//===-- Origins.cpp - Which arguments registers come from -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A register holds one thing after the other, and its lanes hold what the lanes
// of EXEC got. So what the text says of a register is not enough. Each value
// takes its origin along while the program runs. Of what an instruction reads,
// masks of lanes, carries and SCC are no addresses, and neither is what comes
// from memory, but for the arguments themselves.
//
//===----------------------------------------------------------------------===//
#include "Origins.h"
#include "VectorLanes.h"

#include <algorithm>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

void Origins::start(const WaveProgram &p, Frame &frame) {
  size_t vectors = p.vectorCount + p.accumulatorCount;
  frame.origins.assign(lanes + FirstVector + vectors * lanes, noOrigin);
}

namespace {
using LaneOrigins = std::array<Origin, Origins::lanes>;

/// Not of a mask of lanes, nor of what is set beside a result.
bool holdsData(const RegisterUse &use) {
  return !use.half && use.slot != Exec && use.slot != Exec + 1 &&
         use.slot != Scc;
}

/// `moves`: which lanes the instruction reads, if not each its own.
void join(LaneOrigins &with, const Origins &origins, uint32_t reg,
          const LaneMoves *moves = nullptr) {
  if (reg < FirstVector) {
    Origin one = origins.ofScalar(reg);
    for (Origin &lane : with)
      lane = joined(lane, one);
    return;
  }
  const Origin *from = origins.ofVector(reg);
  if (!moves)
    for (unsigned l = 0; l < Origins::lanes; ++l)
      with[l] = joined(with[l], from[l]);
  else
    for (unsigned l = 0; l < Origins::lanes; ++l)
      if (!(moves->zero >> l & 1))
        with[l] = joined(with[l], from[moves->from[l]]);
}
} // namespace

void tile::sim::amdgcn::trackOrigins(Ctx &c, const Inst &inst) {
  const Origins origins(*c.frame);
  const RegisterUse *uses = c.code->registers.data() + inst.regs;
  LaneOrigins address{}, result{};
  bool passes = passesOrigins(inst.cls);
  uint64_t written = execOf(c);
  LaneMoves room{};
  // They are of the first source.
  const LaneMoves *moves =
      inst.mod[3] & MovesLanes ? takeMoves(c, inst, room, written) : nullptr;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    if (uses[i].written)
      continue;
    if (uses[i].isAddress) {
      join(address, origins, uses[i].slot);
    } else if (passes && holdsData(uses[i])) {
      join(result, origins, uses[i].slot, moves);
      moves = inst.mod[3] & EachWord ? moves : nullptr;
    }
  }
  // The instruction may overwrite its address before it asks.
  std::ranges::copy(address, origins.ofAddress());

  // Those move what is known of a lane themselves.
  if (inst.cls == Class::Collective)
    return;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    if (!uses[i].written)
      continue;
    uint32_t reg = uses[i].slot;
    if (reg < FirstVector) {
      // What is one for all lanes was computed from such values.
      origins.ofScalar(reg) = holdsData(uses[i]) ? result[0] : noOrigin;
      continue;
    }
    Origin *to = origins.ofVector(reg);
    for (unsigned l = 0; l < Origins::lanes; ++l)
      to[l] = written >> l & 1 ? result[l] : to[l];
  }
}
