//===-- StoreAsync.cpp - st.async, red.async, st.bulk ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Mbarrier.h"
#include "../../Memory.h"
#include "../../Schedule.h"
#include "Families.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

namespace {
enum Red : uint8_t { Store, Inc, Dec, Min, Max, Add, And, Or, Xor };

uint64_t reduce(Red op, Type type, uint64_t a, uint64_t b) {
  bool wide = bitsOf(type) == 64;
  auto less = [&](uint64_t x, uint64_t y) {
    return isSigned(type)
               ? (wide ? int64_t(x) < int64_t(y) : int32_t(x) < int32_t(y))
               : x < y;
  };
  switch (op) {
  case Store:
    return b;
  case Inc:
    return a >= b ? 0 : a + 1;
  case Dec:
    return a == 0 || a > b ? b : a - 1;
  case Min:
    return less(b, a) ? b : a;
  case Max:
    return less(a, b) ? b : a;
  case Add:
    return a + b;
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  }
  return b;
}

/// op: barrier, address; imm: address offset; target: barrier offset; ext:
/// values; mod[0]: Red.
Step execStoreAsync(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t to[Lanes], barrier[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, to);
  gatherAddresses(c, inst, inst.op[0], int64_t(int32_t(inst.target)), barrier);
  unsigned element = bytesOf(inst.type), bytes = element * inst.extCount;
  // PTX wants %cluster_nctarank > 1. An H200 stops at either instruction
  // otherwise, as at an illegal one.
  if (mask && c.launch->clusterSize < 2)
    return c.fail(inst, unsigned(std::countr_zero(mask)), "not-remote",
                  std::string(inst.mod[0] == Store ? "st.async" : "red.async") +
                      " needs a cluster of two CTAs or more, and this launch "
                      "has clusters of one");
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Cta *owner, *barrierOwner;
    uint32_t offset, barrierOffset;
    if (to[l] & (bytes - 1))
      return c.fail(inst, l, "misaligned",
                    "the destination of an asynchronous store of " +
                        std::to_string(bytes) + " bytes is not aligned");
    std::byte *host = sharedRange(c, inst, l, to[l], bytes,
                                  "asynchronous store", owner, offset);
    if (!host || !sharedRange(c, inst, l, barrier[l], 8, "mbarrier access",
                              barrierOwner, barrierOffset))
      return Step::Error;
    if (owner != barrierOwner)
      return c.fail(inst, l, "mbarrier-misuse",
                    "the data and the mbarrier of an asynchronous store must "
                    "be in the same CTA's shared memory");
    // PTX lets st.async alone reach the memory of its own CTA.
    if (inst.mod[0] != Store && owner == c.cta)
      return c.fail(inst, l, "not-remote",
                    "red.async is for the shared memory of another CTA of the "
                    "cluster, and this address is in its own CTA's");
    uint32_t engine = 0, time = 0;
    if (c.checker) {
      engine = c.checker->transferEngine(*barrierOwner, barrierOffset);
      // Both go through the generic proxy; reductions are atomic.
      uint8_t flags = Event::Write | Event::Generic |
                      (inst.mod[0] == Store ? 0 : Event::Strong);
      c.checker->asyncShared(c, inst, l, *owner, offset, bytes, flags, engine);
      time = c.checker->tick(engine);
    }
    std::array<uint64_t, 4> values{};
    for (unsigned v = 0; v < inst.extCount; ++v) {
      uint32_t slot = c.code->ext[inst.ext + v];
      values[v] =
          element == 8 ? c.src<uint64_t>(slot)[l] : c.src<uint32_t>(slot)[l];
    }
    auto arrive = [=, &inst, at = barrier[l]](Ctx &c) {
      for (unsigned v = 0; v < inst.extCount; ++v) {
        uint64_t old = 0;
        std::memcpy(&old, host + v * element, element);
        uint64_t value = reduce(Red(inst.mod[0]), inst.type, old, values[v]);
        std::memcpy(host + v * element, &value, element);
      }
      if (c.checker)
        c.checker->completesOn(*barrierOwner, barrierOffset, engine, time);
      MbarrierChange change;
      change.byEngine = true;
      change.complete = int32_t(bytes);
      return changeMbarrier(c, inst, l, at, change, nullptr);
    };
    if (!completeAsync(c, AsyncKind::Transfer, l, arrive))
      return Step::Error;
  }
  c.worker->counters.sharedStoreBytes += uint64_t(std::popcount(mask)) * bytes;
  return Step::Next;
}

bool decodeAsync(FunctionDecoder &d, Red op) {
  d.hasOneOf({"weak", "relaxed"});
  d.has("cluster");
  if (!d.has("mbarrier::complete_tx::bytes"))
    return d.error("needs .mbarrier::complete_tx::bytes");
  d.has("shared::cluster");
  int vector = d.hasOneOf({"v2", "v4"});
  Type type = d.takeType();
  if (bitsOf(type) != 32 && bitsOf(type) != 64)
    return d.badType(type);
  Space space = Space::SharedCluster;
  if (!d.expectOperands(3, 3) || !d.address(d.operand(2), 0, space))
    return false;
  d.inst.target = uint32_t(d.inst.imm);
  if (!d.address(d.operand(0), 1, space))
    return false;
  auto elements = d.elements(d.operand(1));
  if (elements.size() != (vector < 0 ? 1u : 2u << vector))
    return d.errorAt(d.operand(1), "wrong number of values");
  std::vector<uint32_t> slots;
  for (const ast::Operand *e : elements)
    if (!d.src(*e, type, slots.emplace_back()))
      return false;
  d.setExt(slots);
  d.inst.type = type;
  d.inst.mod[0] = op;
  d.inst.space = Space::SharedCluster;
  return d.emit(execStoreAsync, Class::Async);
}

/// st.bulk fills shared memory with zeros.
Step execStoreBulk(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t to[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, to);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Cta *owner;
    uint32_t offset;
    uint64_t size = c.src<uint64_t>(inst.op[2])[l];
    if ((to[l] | size) & 7)
      return c.fail(
          inst, l, "misaligned",
          "st.bulk needs an address and a size that are multiples of 8");
    std::byte *host =
        sharedRange(c, inst, l, to[l], size, "store", owner, offset);
    if (!host)
      return Step::Error;
    std::memset(host, 0, size);
    if (c.checker)
      c.checker->sharedBlock(c, inst, l, *owner, offset, uint32_t(size),
                             Event::Write);
  }
  return Step::Next;
}
} // namespace

bool tile::sim::decodeStoreAsync(FunctionDecoder &d) {
  for (std::string_view m : d.in->modifiers)
    if (m == "async")
      return decodeAsync(d, Store);
  d.hasOneOf({"weak"});
  d.hasOneOf({"shared", "shared::cta"});
  int64_t zero = 0;
  Space space = Space::Shared;
  return d.expectOperands(3, 3) && d.address(d.operand(0), 1, space) &&
         d.src(1, Type::B64, 2) && d.immediate(d.operand(2), zero) &&
         (zero == 0 || d.errorAt(d.operand(2), "st.bulk writes zeros only")) &&
         d.emit(execStoreBulk, Class::Store);
}

bool tile::sim::decodeRedAsync(FunctionDecoder &d) {
  int op = d.hasOneOf({"inc", "dec", "min", "max", "add", "and", "or", "xor"});
  return op < 0 ? d.error("needs an operation") : decodeAsync(d, Red(op + 1));
}
