//===-- AsyncCopy.cpp - cp.async and its groups ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A copy is done when it is issued, unless a schedule puts it off until its
// group is waited for. The checker remembers that its bytes may not be touched
// before.
//
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Checkers/UndefinedLanes.h"
#include "../../Memory.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "BulkCopy.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

namespace {
/// op: destination, source, source size or ignore predicate; imm: destination
/// offset; mod[0]: bytes; mod[1]: 1 a size, 2 a predicate, 3 both.
Step execCopy(Ctx &c, const Inst &inst, uint32_t mask) {
  unsigned bytes = inst.mod[0];
  Translation from{};
  uint64_t to[Lanes], sources[Lanes];
  gatherAddresses(c, inst, inst.op[0], inst.imm, to);
  gatherAddresses(c, inst, inst.op[1], int64_t(int32_t(inst.target)), sources);
  uint32_t reading = mask;
  unsigned sizes[Lanes];
  for (unsigned l = 0; l < Lanes; ++l) {
    sizes[l] = bytes;
    if (inst.mod[1] & 1)
      sizes[l] = std::min<uint32_t>(c.src<uint32_t>(inst.op[2])[l], bytes);
    if ((inst.mod[1] & 2) && (c.pred(inst.op[3]) >> l & 1))
      sizes[l] = 0;
    if (sizes[l] == 0)
      reading &= ~(1u << l);
    from.address[l] = sources[l];
  }
  // Whole requests are translated together; a shorter source reads only its
  // bytes.
  uint32_t whole = 0;
  for (unsigned l = 0; l < Lanes; ++l)
    whole |= uint32_t(sizes[l] == bytes) << l;
  if ((reading & whole) && !translate(c, inst, reading & whole, Space::Generic,
                                      bytes, Access::Load, from))
    return Step::Error;
  for (uint32_t m = reading & ~whole; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    from.host[l] = globalRange(c, inst, l, sources[l], sizes[l], false, "load");
    if (!from.host[l])
      return Step::Error;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Cta *owner;
    uint32_t offset;
    if (to[l] & (bytes - 1))
      return c.fail(inst, l, "misaligned",
                    "the destination of an asynchronous copy of " +
                        std::to_string(bytes) + " bytes is not aligned");
    std::byte *host = sharedRange(c, inst, l, to[l], bytes,
                                  "asynchronous store", owner, offset);
    if (!host)
      return Step::Error;
    if (c.checker)
      c.checker->asyncShared(
          c, inst, l, *owner, offset, bytes, Event::Write | Event::Generic,
          c.checker->engineOf(EngineKind::Copy, c.checker->threadOf(c, l)));
    uint8_t rest = sizes[l] < bytes ? undefinedByte(c, inst) : 0;
    completeAsync(
        c, AsyncKind::Copy, l,
        [host, source = from.host[l], size = sizes[l], bytes, rest](Ctx &) {
          if (size)
            std::memcpy(host, source, size);
          std::memset(host + size, rest, bytes - size);
          return true;
        });
  }
  if (c.counting)
    c.worker->counters.sharedStoreBytes +=
        uint64_t(std::popcount(mask)) * bytes;
  return Step::Next;
}

/// The engine's clock is the number of groups: a copy belongs to the group that
/// the next commit closes.
Step execCommit(Ctx &c, const Inst &, uint32_t mask) {
  if (c.checker)
    c.checker->commit(c, EngineKind::Copy, mask);
  if (c.timeline)
    c.timeline->commit(c, Timeline::Copies);
  commitScheduled(c, AsyncKind::Copy, mask);
  return Step::Next;
}
Step execWaitGroup(Ctx &c, const Inst &inst, uint32_t mask) {
  if (c.checker)
    c.checker->waitGroups(c, EngineKind::Copy, mask, uint32_t(inst.imm));
  if (c.timeline)
    c.timeline->waitGroups(c, Timeline::Copies, uint32_t(inst.imm));
  return waitScheduled(c, AsyncKind::Copy, mask, uint32_t(inst.imm))
             ? Step::Next
             : Step::Error;
}
Step execWaitAll(Ctx &c, const Inst &inst, uint32_t mask) {
  execCommit(c, inst, mask);
  if (c.checker)
    c.checker->waitGroups(c, EngineKind::Copy, mask, 0);
  if (c.timeline)
    c.timeline->waitGroups(c, Timeline::Copies, 0);
  return waitScheduled(c, AsyncKind::Copy, mask, 0) ? Step::Next : Step::Error;
}

bool decodeCopy(FunctionDecoder &d) {
  int cache = d.hasOneOf({"ca", "cg"});
  d.hasOneOf({"shared", "shared::cta"});
  d.has("global");
  bool hint = d.has("L2::cache_hint");
  std::string_view rest;
  while (d.hasPrefix("L2::", rest))
    ;
  if (cache < 0)
    return d.error("needs .ca or .cg");
  if (!d.expectOperands(3, 5))
    return false;
  Space shared = Space::Shared, global = Space::Global;
  if (!d.address(d.operand(1), 1, global))
    return false;
  d.inst.target = uint32_t(d.inst.imm);
  if (!d.address(d.operand(0), 0, shared))
    return false;
  int64_t bytes = 0;
  if (!d.immediate(d.operand(2), bytes))
    return false;
  if (bytes != 16 && (cache == 1 || (bytes != 4 && bytes != 8)))
    return d.errorAt(d.operand(2), "a copy has 4, 8 or 16 bytes (.cg: 16)");
  d.inst.mod[0] = uint8_t(bytes);
  size_t extra = d.operandCount() - 3 - hint;
  if (extra > 1)
    return d.error("too many operands");
  if (extra == 1) {
    const ast::Operand &o = d.operand(3);
    bool isPredicate = d.registerType(o) == Type::Pred;
    d.inst.mod[1] = isPredicate ? 2 : 1;
    if (isPredicate ? !d.src(o, Type::Pred, d.inst.op[3])
                    : !d.src(o, Type::B32, d.inst.op[2]))
      return false;
  }
  d.inst.type = Type::B8;
  return d.emit(execCopy, Class::Async);
}

bool decodeCp(FunctionDecoder &d) {
  if (d.has("reduce"))
    return decodeBulk(d, true);
  if (!d.has("async"))
    return d.error("unknown form of cp");
  if (d.has("bulk"))
    return decodeBulk(d, false);
  if (d.has("commit_group"))
    return d.expectOperands(0, 0) && d.emit(execCommit, Class::Async);
  if (d.has("wait_all"))
    return d.expectOperands(0, 0) && d.emit(execWaitAll, Class::Async);
  if (d.has("wait_group"))
    return d.expectOperands(1, 1) && d.immediate(d.operand(0), d.inst.imm) &&
           d.emit(execWaitGroup, Class::Async);
  if (d.has("mbarrier"))
    return decodeCopyArrive(d);
  return decodeCopy(d);
}
} // namespace

void tile::sim::registerAsyncCopy(DecodeTable &t) {
  t.insert({{"cp", decodeCp}, {"clusterlaunchcontrol", decodeClusterLaunch}});
}
