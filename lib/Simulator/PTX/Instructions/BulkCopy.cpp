//===-- BulkCopy.cpp - cp.async.bulk and its groups -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "BulkCopy.h"

#include "../../Checkers/OrderChecker.h"
#include "../../ClusterAddress.h"
#include "../../Schedule.h"
#include "../../Timeline.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

//===-- Reductions --------------------------------------------------------===//

template <class T, class F>
static void each(std::byte *to, const std::byte *from, uint64_t bytes, F f) {
  for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, from + at, sizeof b);
    a = f(a, b);
    std::memcpy(to + at, &a, sizeof a);
  }
}
template <class T>
static void reduceIntegers(std::byte *to, const std::byte *from, uint64_t bytes,
                           BulkRed op) {
  using U = std::make_unsigned_t<T>;
  each<T>(to, from, bytes, [op](T a, T b) -> T {
    switch (op) {
    case BulkRed::Add:
      return T(U(a) + U(b));
    case BulkRed::Min:
      return std::min(a, b);
    case BulkRed::Max:
      return std::max(a, b);
    case BulkRed::Inc:
      return U(a) >= U(b) ? T(0) : T(a + 1);
    case BulkRed::Dec:
      return a == 0 || U(a) > U(b) ? b : T(a - 1);
    case BulkRed::And:
      return a & b;
    case BulkRed::Or:
      return a | b;
    case BulkRed::Xor:
      return a ^ b;
    default:
      return b;
    }
  });
}
template <class T> static T reduceReal(T a, T b, BulkRed op) {
  if (op == BulkRed::Add)
    return a + b;
  if (a != a)
    return b;
  return b != b ? a : (op == BulkRed::Min ? b < a : a < b) ? b : a;
}

void tile::sim::bulkReduce(std::byte *to, const std::byte *from, uint64_t bytes,
                           BulkRed op, Type type) {
  switch (type) {
  case Type::U8:
  case Type::B8:
    return reduceIntegers<uint8_t>(to, from, bytes, op);
  case Type::U16:
    return reduceIntegers<uint16_t>(to, from, bytes, op);
  case Type::S32:
    return reduceIntegers<int32_t>(to, from, bytes, op);
  case Type::U64:
  case Type::B64:
    return reduceIntegers<uint64_t>(to, from, bytes, op);
  case Type::S64:
    return reduceIntegers<int64_t>(to, from, bytes, op);
  case Type::F16:
    return each<uint16_t>(to, from, bytes, [op](uint16_t a, uint16_t b) {
      return halfFromFloat(reduceReal(floatFromHalf(a), floatFromHalf(b), op));
    });
  case Type::BF16:
    return each<uint16_t>(to, from, bytes, [op](uint16_t a, uint16_t b) {
      return bf16FromFloat(reduceReal(floatFromBf16(a), floatFromBf16(b), op));
    });
  case Type::F32:
    return each<float>(to, from, bytes, [op](float a, float b) {
      return canonical(reduceReal(a, b, op));
    });
  case Type::F64:
    return each<double>(to, from, bytes, [op](double a, double b) {
      return reduceReal(a, b, op);
    });
  default:
    return reduceIntegers<uint32_t>(to, from, bytes, op);
  }
}

//===-- Places and completion ---------------------------------------------===//

/// The mbarrier that hears of a target's bytes. A single target may be in
/// another CTA, with its mbarrier; a multicast signals the same offset
/// everywhere.
static bool barrierOf(Ctx &c, const Inst &inst, unsigned lane, uint64_t barrier,
                      bool multicast, bool ofPair, BulkTarget &t) {
  t.barrier = barrier;
  uint32_t named = clusterPrefix(barrier) ? clusterRank(barrier) : c.cta->rank;
  // Of each pair the CTA with the parity of the one that is named.
  if (multicast && ofPair)
    t.barrier =
        clusterAddress(uint32_t(barrier), (t.owner->rank & ~1u) | (named & 1));
  else if (multicast || (t.owner != c.cta && clusterPrefix(barrier) == 0))
    t.barrier = clusterAddress(uint32_t(barrier), t.owner->rank);
  else if (ofPair && (named ^ t.owner->rank) > 1) {
    c.fail(inst, lane, "mbarrier-misuse",
           "the mbarrier of a copy with .cta_group::2 is in CTA rank " +
               std::to_string(named) + ", not in the pair of rank " +
               std::to_string(t.owner->rank));
    return false;
  }
  if (!sharedRange(c, inst, lane, t.barrier, 8, "mbarrier access",
                   t.barrierOwner, t.barrierOffset))
    return false;
  if (c.checker)
    t.engine = c.checker->transferEngine(*t.barrierOwner, t.barrierOffset);
  return true;
}

bool tile::sim::bulkTargets(Ctx &c, const Inst &inst, unsigned lane,
                            uint64_t address, uint64_t bytes, bool multicast,
                            uint32_t ctaMask, uint64_t barrier,
                            std::vector<BulkTarget> &out, bool ofPair) {
  out.clear();
  auto add = [&](uint64_t at) {
    BulkTarget t;
    t.host =
        sharedRange(c, inst, lane, at, bytes, "bulk store", t.owner, t.offset);
    if (!t.host || !barrierOf(c, inst, lane, barrier, multicast, ofPair, t))
      return false;
    out.push_back(t);
    return true;
  };
  if (!multicast)
    return add(address);
  for (uint32_t m = ctaMask & 0xffff; m; m &= m - 1) {
    uint32_t rank = uint32_t(std::countr_zero(m));
    if (rank >= c.cluster->ctas.size()) {
      c.fail(inst, lane, "bad-cluster-rank",
             "the multicast names CTA rank " + std::to_string(rank) +
                 ", the cluster has " + std::to_string(c.cluster->ctas.size()));
      return false;
    }
    if (!add(clusterAddress(uint32_t(address), rank)))
      return false;
  }
  return true;
}

void tile::sim::bulkIssued(Ctx &c, const Inst &inst, unsigned lane,
                           std::vector<BulkTarget> &targets, uint64_t bytes) {
  if (!c.checker)
    return;
  for (BulkTarget &t : targets) {
    c.checker->asyncShared(c, inst, lane, *t.owner, t.offset, uint32_t(bytes),
                           Event::Write, t.engine);
    t.time = c.checker->tick(t.engine);
  }
}

bool tile::sim::bulkArrived(Ctx &c, const Inst &inst, unsigned lane,
                            const std::vector<BulkTarget> &targets,
                            uint64_t bytes) {
  for (const BulkTarget &t : targets) {
    if (c.checker)
      c.checker->completesOn(*t.barrierOwner, t.barrierOffset, t.engine,
                             t.time);
    MbarrierChange change;
    change.byEngine = change.asyncProxy = true;
    change.complete = int32_t(bytes);
    if (!changeMbarrier(c, inst, lane, t.barrier, change, nullptr))
      return false;
  }
  return true;
}

void tile::sim::bulkStored(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                           uint32_t offset, uint32_t bytes, uint64_t address,
                           uint32_t size, bool reduces) {
  uint32_t thread = c.checker->threadOf(c, lane);
  if (bytes)
    c.checker->asyncShared(c, inst, lane, owner, offset, bytes, 0,
                           c.checker->engineOf(EngineKind::BulkRead, thread));
  // Reductions are atomic for each element.
  if (size)
    c.checker->asyncGlobal(
        c, inst, lane, address, size,
        uint8_t(Event::Write | (reduces ? Event::Strong : 0)),
        c.checker->engineOf(EngineKind::BulkWrite, thread));
}

namespace {
enum Slots { To, From, Size, Barrier, Mask, Bytes };

/// op as in Slots; imm: destination offset; target: source offset; extCount:
/// barrier offset's slot in ext; mod[0]: BulkRed; mod[1]: multicast; mod[2]:
/// byte mask.
struct Addresses {
  uint64_t to[Lanes], from[Lanes], barrier[Lanes];
  Addresses(Ctx &c, const Inst &inst) {
    gatherAddresses(c, inst, inst.op[To], inst.imm, to);
    gatherAddresses(c, inst, inst.op[From], int64_t(int32_t(inst.target)),
                    from);
    if (inst.op[Barrier] != NoSlot)
      gatherAddresses(c, inst, inst.op[Barrier],
                      int64_t(int32_t(c.code->ext[inst.ext])), barrier);
  }
};

bool checkBulk(Ctx &c, const Inst &inst, unsigned l, uint64_t to, uint64_t from,
               uint64_t size) {
  if ((to | from | size) & 15) {
    c.fail(inst, l, "misaligned",
           "a bulk copy needs addresses and a size that are multiples of 16");
    return false;
  }
  return true;
}

/// Into shared memory, from global memory or another CTA's shared memory.
Step execToShared(Ctx &c, const Inst &inst, uint32_t mask) {
  // An H200 stops there, as at an illegal instruction.
  if (mask && inst.space != Space::Global && c.launch->clusterSize < 2)
    return c.fail(
        inst, unsigned(std::countr_zero(mask)), "not-remote",
        "a bulk copy between CTAs needs a cluster of two or more, and "
        "this launch has clusters of one");
  Addresses a(c, inst);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t size = c.src<uint32_t>(inst.op[Size])[l];
    if (!checkBulk(c, inst, l, a.to[l], a.from[l], size))
      return Step::Error;
    const std::byte *source;
    Cta *sourceOwner = nullptr;
    uint32_t sourceOffset = 0;
    if (inst.space == Space::Global)
      source = globalRange(c, inst, l, a.from[l], size, false, "bulk load");
    else
      source = sharedRange(c, inst, l, a.from[l], size, "bulk load",
                           sourceOwner, sourceOffset);
    if (!source)
      return Step::Error;
    std::vector<BulkTarget> targets;
    uint32_t ctas =
        inst.op[Mask] != NoSlot ? c.src<uint32_t>(inst.op[Mask])[l] : 0;
    if (!bulkTargets(c, inst, l, a.to[l], size, inst.mod[1], ctas, a.barrier[l],
                     targets))
      return Step::Error;
    if (c.checker && !targets.empty()) {
      uint32_t engine = targets[0].engine;
      if (sourceOwner)
        c.checker->asyncShared(c, inst, l, *sourceOwner, sourceOffset,
                               uint32_t(size), 0, engine);
      else
        c.checker->asyncGlobal(c, inst, l, a.from[l], uint32_t(size), 0,
                               engine);
    }
    bulkIssued(c, inst, l, targets, size);
    c.worker->counters.sharedStoreBytes += size * targets.size();
    auto transfer = [&inst, l, source, size,
                     targets = std::move(targets)](Ctx &c) {
      for (const BulkTarget &t : targets) {
        if (BulkRed(inst.mod[0]) == BulkRed::None)
          std::memmove(t.host, source, size);
        else
          bulkReduce(t.host, source, size, BulkRed(inst.mod[0]), inst.type);
      }
      return bulkArrived(c, inst, l, targets, size);
    };
    if (!completeAsync(c, AsyncKind::Transfer, l, std::move(transfer)))
      return Step::Error;
    if (inst.space == Space::Global)
      c.worker->counters.asyncBytes += size;
  }
  return Step::Next;
}

Step execToGlobal(Ctx &c, const Inst &inst, uint32_t mask) {
  Addresses a(c, inst);
  if (inst.mod[0] && !awaitTurn(c))
    return Step::Error;
  std::unique_lock<std::mutex> lock;
  if (inst.mod[0])
    lock = c.launch->group->lockAtomics();
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t size = c.src<uint32_t>(inst.op[Size])[l];
    if (!checkBulk(c, inst, l, a.to[l], a.from[l], size))
      return Step::Error;
    Cta *owner;
    uint32_t offset;
    std::byte *source =
        sharedRange(c, inst, l, a.from[l], size, "bulk load", owner, offset);
    std::byte *to =
        source ? globalRange(c, inst, l, a.to[l], size, true, "bulk store")
               : nullptr;
    if (!to)
      return Step::Error;
    if (c.checker)
      bulkStored(c, inst, l, *owner, offset, uint32_t(size), a.to[l],
                 uint32_t(size), inst.mod[0] != 0);
    uint32_t keep = inst.mod[2] ? c.src<uint32_t>(inst.op[Bytes])[l] : 0xffff;
    completeStore(
        c, l, {source, size}, [&inst, to, size, keep](const std::byte *from) {
          if (BulkRed(inst.mod[0]) != BulkRed::None)
            bulkReduce(to, from, size, BulkRed(inst.mod[0]), inst.type);
          else if (!inst.mod[2])
            std::copy_n(from, size, to); // Of no bytes there is no source.
          else
            for (uint64_t i = 0; i < size; ++i)
              if (keep >> (i & 15) & 1)
                to[i] = from[i];
        });
    c.worker->counters.asyncBytes += size;
  }
  return Step::Next;
}

Step execCommit(Ctx &c, const Inst &, uint32_t mask) {
  if (c.checker) {
    c.checker->commit(c, EngineKind::BulkRead, mask);
    c.checker->commit(c, EngineKind::BulkWrite, mask);
  }
  if (c.timeline)
    c.timeline->commit(c, Timeline::BulkStores);
  commitScheduled(c, AsyncKind::BulkRead, mask);
  commitScheduled(c, AsyncKind::BulkWrite, mask);
  return Step::Next;
}
/// mod[0]: only until the sources are read.
Step execWait(Ctx &c, const Inst &inst, uint32_t mask) {
  if (c.checker) {
    c.checker->waitGroups(c, EngineKind::BulkRead, mask, uint32_t(inst.imm));
    if (!inst.mod[0])
      c.checker->waitGroups(c, EngineKind::BulkWrite, mask, uint32_t(inst.imm));
  }
  if (c.timeline)
    c.timeline->waitGroups(c, Timeline::BulkStores, uint32_t(inst.imm));
  uint32_t left = uint32_t(inst.imm);
  return waitScheduled(c, AsyncKind::BulkRead, mask, left) &&
                 (inst.mod[0] ||
                  waitScheduled(c, AsyncKind::BulkWrite, mask, left))
             ? Step::Next
             : Step::Error;
}
Step execNothing(Ctx &, const Inst &, uint32_t) { return Step::Next; }

/// Takes the spaces in the order in which they are written: destination, then
/// source.
bool takeSpaces(FunctionDecoder &d, BulkDirection &direction) {
  static const std::pair<std::string_view, Space> names[] = {
      {"global", Space::Global},
      {"shared::cluster", Space::SharedCluster},
      {"shared::cta", Space::Shared}};
  std::vector<Space> found;
  for (const std::string &m : d.in->modifiers)
    for (auto [name, space] : names)
      if (m == name) {
        found.push_back(space);
        d.has(name);
      }
  if (found.size() != 2)
    return d.error("needs the destination's and the source's space");
  direction = {found[0], found[1]};
  return true;
}

BulkRed takeReduction(FunctionDecoder &d, bool reduce) {
  return reduce ? BulkRed(d.hasOneOf({"add", "min", "max", "inc", "dec", "and",
                                      "or", "xor"}) +
                          1)
                : BulkRed::None;
}

bool decodePlain(FunctionDecoder &d, const BulkDirection &direction,
                 BulkRed op) {
  bool toShared = direction.to != Space::Global;
  bool barrier = d.has("mbarrier::complete_tx::bytes"),
       group = d.has("bulk_group");
  d.inst.mod[1] = d.has("multicast::cluster");
  d.inst.mod[2] = d.has("cp_mask");
  if (d.has("noftz") && op != BulkRed::Add)
    return d.error(".noftz goes with .add alone");
  bool hint = d.has("L2::cache_hint");
  if (op != BulkRed::None) {
    d.inst.type = d.takeType();
    if (d.inst.type == Type::None)
      return d.badType(d.inst.type);
  }
  if (toShared != barrier || toShared == group)
    return d.error("needs .mbarrier::complete_tx::bytes into shared memory and "
                   ".bulk_group into global memory");
  size_t operands = 3 + barrier + d.inst.mod[1] + hint + d.inst.mod[2];
  if (!d.expectOperands(operands, operands))
    return false;
  Space space = direction.from;
  uint32_t barrierOffset = 0;
  if (barrier) {
    Space shared = Space::Shared;
    if (!d.address(d.operand(3), Barrier, shared))
      return false;
    barrierOffset = uint32_t(d.inst.imm);
  }
  if (!d.address(d.operand(1), From, space))
    return false;
  d.inst.target = uint32_t(d.inst.imm);
  space = direction.to;
  if (!d.address(d.operand(0), To, space) || !d.src(2, Type::B32, Size))
    return false;
  if (d.inst.mod[1] && !d.src(4, Type::B16, Mask))
    return false;
  if (d.inst.mod[2] && !d.src(operands - 1, Type::B16, Bytes))
    return false;
  d.setExt({{barrierOffset}});
  d.inst.mod[0] = uint8_t(op);
  d.inst.space = direction.from;
  return d.emit(toShared ? execToShared : execToGlobal, Class::Async);
}
} // namespace

bool tile::sim::decodeBulk(FunctionDecoder &d, bool reduce) {
  if (reduce) {
    d.has("async");
    if (!d.has("bulk"))
      return d.error("needs .bulk");
  }
  if (d.has("commit_group"))
    return d.expectOperands(0, 0) && d.emit(execCommit, Class::Async);
  if (d.has("wait_group")) {
    d.inst.mod[0] = d.has("read");
    return d.expectOperands(1, 1) && d.immediate(d.operand(0), d.inst.imm) &&
           d.emit(execWait, Class::Async);
  }
  if (d.has("prefetch")) {
    std::string_view rest;
    for (std::string_view known : {"tensor", "L2", "global", "1d", "2d", "3d",
                                   "4d", "5d", "tile", "tile::gather4"})
      d.has(known);
    d.hasPrefix("L2::", rest);
    return d.emit(execNothing, Class::Async);
  }
  BulkDirection direction;
  bool tensor = d.has("tensor");
  if (!takeSpaces(d, direction))
    return false;
  BulkRed op = takeReduction(d, reduce);
  if (reduce && op == BulkRed::None)
    return d.error("needs an operation");
  // Reductions in global memory depend on the order of CTAs if they round.
  if (reduce && direction.to == Space::Global)
    d.builder.program->usesGlobalAtomics = true;
  return tensor ? decodeTensorCopy(d, direction, op)
                : decodePlain(d, direction, op);
}
