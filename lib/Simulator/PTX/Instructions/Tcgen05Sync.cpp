//===-- Tcgen05Sync.cpp - tcgen05.commit and .fence -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../ClusterAddress.h"
#include "../../Mbarrier.h"
#include "../../Memory.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "Tcgen05.h"

using namespace tile::sim;

namespace {
/// op: mask of CTAs, address. mod[0]: CTAs; mod[1]: multicast.
Step execCommit(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    std::vector<uint64_t> barriers;
    if (!inst.mod[1])
      barriers.push_back(address[l]);
    uint32_t ctas = inst.mod[1] ? c.src<uint32_t>(inst.op[0])[l] & 0xffff : 0;
    for (uint32_t rest = ctas; rest; rest &= rest - 1) {
      uint32_t rank = uint32_t(std::countr_zero(rest));
      if (rank >= c.cluster->ctas.size())
        return c.fail(inst, l, "bad-cluster-rank",
                      "the multicast names CTA rank " + std::to_string(rank) +
                          ", the cluster has " +
                          std::to_string(c.cluster->ctas.size()));
      barriers.push_back(clusterAddress(uint32_t(address[l]), rank));
    }
    uint32_t engine = 0, time = 0;
    std::shared_ptr<const Knowledge> known;
    if (c.checker) {
      known = c.checker->snapshot(c, l);
      std::tie(engine, time) = c.checker->tensor().commit(c, l);
      c.checker->tensor().fenceBefore(c, 1u << l);
    }
    for (uint64_t at : barriers) {
      Cta *owner;
      uint32_t offset;
      if (!sharedRange(c, inst, l, at, 8, "mbarrier access", owner, offset))
        return Step::Error;
      if (c.timeline)
        c.timeline->tensorCommit(c, *owner, offset);
      auto arrive = [=, &inst](Ctx &c) {
        if (c.checker) {
          c.checker->completesOn(*owner, offset, engine, time);
          c.checker->passOn(*owner, offset, *known);
        }
        MbarrierChange change;
        change.arrivals = 1;
        change.byEngine = true;
        return changeMbarrier(c, inst, l, at, change, nullptr);
      };
      // It starts behind the work, in order. Arrivals of several commits may
      // come in any order.
      auto start = [=](Ctx &c) {
        return completeAsync(c, AsyncKind::Transfer, l, arrive);
      };
      if (!completeAsync(c, AsyncKind::Tensor, l, start))
        return Step::Error;
    }
  }
  return Step::Next;
}

/// mod[0]: after.
Step execFence(Ctx &c, const Inst &inst, uint32_t mask) {
  if (c.checker && inst.mod[0])
    c.checker->tensor().fenceAfter(c, mask);
  else if (c.checker)
    c.checker->tensor().fenceBefore(c, mask);
  return Step::Next;
}
} // namespace

bool tile::sim::decodeTcgen05Commit(FunctionDecoder &d) {
  unsigned group = takeCtaGroup(d);
  if (!group)
    return false;
  d.inst.mod[0] = uint8_t(group);
  if (!d.has("mbarrier::arrive::one"))
    return d.error("needs .mbarrier::arrive::one");
  Space space =
      d.has("shared::cluster") ? Space::SharedCluster : Space::Generic;
  d.inst.mod[1] = d.has("multicast::cluster");
  if (!d.has("b64"))
    return d.error("needs .b64");
  size_t operands = d.inst.mod[1] ? 2 : 1;
  return d.expectOperands(operands, operands) &&
         (!d.inst.mod[1] || d.src(1, Type::B16, 0)) &&
         d.address(d.operand(0), 1, space) && d.emit(execCommit, Class::Async);
}

bool tile::sim::decodeTcgen05Fence(FunctionDecoder &d, bool after) {
  d.inst.mod[0] = after;
  return d.expectOperands(0, 0) && d.emit(execFence, Class::Barrier);
}
