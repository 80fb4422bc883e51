//===-- Mbarrier.cpp - mbarrier -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Mbarrier.h"
#include "../../Checkers/OrderChecker.h"
#include "../../Memory.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "Families.h"

#include <cstring>

using namespace tile::sim;
using tile::Rule;
using tile::textOf;

static bool misuse(Ctx &c, const Inst &inst, unsigned lane,
                   std::string message) {
  c.fail(inst, lane, textOf(Rule::NotInitialized).kind, std::move(message));
  return false;
}

/// The object at an address; null after recording an error.
static std::byte *locate(Ctx &c, const Inst &inst, unsigned lane,
                         uint64_t address, Cta *&owner, uint32_t &offset) {
  if (address & 7) {
    c.fail(inst, lane, "misaligned", "an mbarrier must be aligned to 8 bytes");
    return nullptr;
  }
  if (uint64_t window = address >> WindowShift; window != 0 && window != 1) {
    misuse(c, inst, lane, "an mbarrier must be in shared memory");
    return nullptr;
  }
  return sharedRange(c, inst, lane, address, 8, "mbarrier access", owner,
                     offset);
}

static bool load(Ctx &c, const Inst &inst, unsigned lane, const std::byte *host,
                 MbarrierState &state) {
  uint64_t bits;
  std::memcpy(&bits, host, 8);
  if (!MbarrierState::isValid(bits))
    return misuse(c, inst, lane, textOf(Rule::NotInitialized).text);
  state = MbarrierState::unpack(bits);
  return true;
}

std::string tile::sim::describeMbarrier(const Cta &owner, uint32_t offset) {
  char address[16];
  snprintf(address, sizeof address, "0x%x", offset);
  std::string text = std::string("shared memory at ") + address;
  uint64_t bits;
  if (owner.shared.size() < offset + 8)
    return text;
  std::memcpy(&bits, owner.shared.data() + offset, 8);
  if (!MbarrierState::isValid(bits))
    return text + ", not initialized";
  MbarrierState s = MbarrierState::unpack(bits);
  return text + ", running phase of parity " + std::to_string(s.phase) + ", " +
         std::to_string(s.pending) + " of " + std::to_string(s.expected) +
         " arrivals and " + std::to_string(s.transactions) + " bytes pending";
}

bool tile::sim::changeMbarrier(Ctx &c, const Inst &inst, unsigned lane,
                               uint64_t address, const MbarrierChange &change,
                               uint64_t *before) {
  Cta *owner;
  uint32_t offset;
  std::byte *host = locate(c, inst, lane, address, owner, offset);
  MbarrierState s;
  if (!host || !load(c, inst, lane, host, s))
    return false;
  if (before)
    *before = s.pack();
  if (c.checker) {
    if (change.byEngine)
      c.checker->mbarrierSignal(c, inst, lane, *owner, offset,
                                change.asyncProxy);
    else
      c.checker->mbarrierUse(c, inst, lane, *owner, offset);
  }
  if (change.arrivals > s.pending)
    return misuse(c, inst, lane,
                  std::string(textOf(Rule::TooManyArrivals).text) + ": " +
                      std::to_string(change.arrivals) + " of " +
                      std::to_string(s.pending) + " (" +
                      describeMbarrier(*owner, offset) + ")");
  int64_t transactions =
      int64_t(s.transactions) + change.expect - change.complete;
  if (transactions > MbarrierState::maxTransactions ||
      transactions < -MbarrierState::maxTransactions)
    return misuse(c, inst, lane,
                  std::string(textOf(Rule::TransactionRange).text) + ": " +
                      std::to_string(transactions) + " (" +
                      describeMbarrier(*owner, offset) + ")");
  s.transactions = int32_t(transactions);
  if (s.pending + change.announce > MbarrierState::maxCount)
    return misuse(c, inst, lane,
                  "the pending count of the mbarrier is out of range (" +
                      describeMbarrier(*owner, offset) + ")");
  s.pending += change.announce;
  s.pending -= change.arrivals;
  s.expected -= std::min(change.drop, s.expected);
  if (c.checker && change.arrivals && !change.byEngine)
    c.checker->mbarrierArrive(c, lane, *owner, offset,
                              !(inst.order & Inst::Release));
  if (c.timeline && change.arrivals && !change.byEngine)
    c.timeline->mbarrierArrive(c, *owner, offset);
  if (c.timeline && change.byEngine && change.complete > 0)
    c.timeline->mbarrierTransfer(c, *owner, offset, uint64_t(change.complete));
  if (s.pending == 0 && s.transactions == 0) {
    s.phase ^= 1;
    s.pending = s.expected;
    if (c.checker)
      c.checker->mbarrierFlip(*owner, offset);
    if (c.timeline)
      c.timeline->mbarrierFlip(*owner, offset);
  }
  uint64_t bits = s.pack();
  std::memcpy(host, &bits, 8);
  ++c.cluster->progress;
  return true;
}

namespace {
Step execInit(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Cta *owner;
    uint32_t offset, count = c.src<uint32_t>(inst.op[2])[l];
    std::byte *host = locate(c, inst, l, address[l], owner, offset);
    if (!host)
      return Step::Error;
    if (count == 0 || count > MbarrierState::maxCount)
      return c.fail(inst, l, textOf(Rule::NotInitialized).kind,
                    "an mbarrier cannot expect " + std::to_string(count) +
                        " arrivals");
    MbarrierState s;
    s.expected = s.pending = count;
    uint64_t bits = s.pack();
    std::memcpy(host, &bits, 8);
    if (c.checker)
      c.checker->mbarrierInit(c, inst, l, *owner, offset, false);
  }
  return Step::Next;
}
Step execInval(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Cta *owner;
    uint32_t offset;
    MbarrierState s;
    std::byte *host = locate(c, inst, l, address[l], owner, offset);
    if (!host || !load(c, inst, l, host, s))
      return Step::Error;
    if (c.checker)
      c.checker->mbarrierInit(c, inst, l, *owner, offset, true);
    std::memset(host, 0, 8);
  }
  return Step::Next;
}

enum Change : uint8_t { Arrive, Drop, ExpectTx, CompleteTx };

/// op: state, address, count, bytes; mod[0]: Change; mod[1]: .noComplete.
Step execChange(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address[Lanes], found[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    MbarrierChange change;
    uint32_t count = inst.op[2] != NoSlot ? c.src<uint32_t>(inst.op[2])[l] : 1;
    int32_t bytes =
        inst.op[3] != NoSlot ? int32_t(c.src<uint32_t>(inst.op[3])[l]) : 0;
    switch (Change(inst.mod[0])) {
    case Drop:
      change.drop = count;
      [[fallthrough]];
    case Arrive:
      change.arrivals = count;
      change.expect = bytes;
      break;
    case ExpectTx:
      change.expect = bytes;
      break;
    case CompleteTx:
      change.complete = bytes;
      break;
    }
    if (!changeMbarrier(c, inst, l, address[l], change, &found[l]))
      return Step::Error;
    if (inst.op[0] == NoSlot)
      continue;
    // The instruction returns the state before it. All lanes that arrive at one
    // mbarrier in one phase get the state that the first of them found.
    for (uint32_t e = mask & ((1u << l) - 1); e; e &= e - 1)
      if (unsigned first = firstLane(e);
          address[first] == address[l] &&
          MbarrierState::unpack(found[first]).phase ==
              MbarrierState::unpack(found[l]).phase) {
        found[l] = found[first];
        break;
      }
    c.dst<uint64_t>(inst.op[0])[l] = found[l];
  }
  return Step::Next;
}

/// op: predicate, address, state or parity. mod[0]: parity; mod[1]: may
/// suspend.
Step execWait(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  uint32_t done = 0;
  Fragment &f = c.warp->frags[c.current];
  Cta *owner = nullptr, *doneOwner = nullptr;
  uint32_t offset = 0, doneOffset = 0, together = 0;
  // A try may end without success, in each lane by itself.
  Schedule *schedule = c.cluster->schedule.get();
  bool triesAgain = false;
  uint32_t mayGoOn =
      schedule && inst.mod[1] ? schedule->lanesToGoOn(mask) : mask;
  // Lanes that wait for the same object learn the same.
  auto learn = [&] {
    if (together && c.checker) {
      c.checker->mbarrierUse(c, inst, firstLane(together), *doneOwner,
                             doneOffset);
      c.checker->mbarrierWait(c, together, *doneOwner, doneOffset,
                              !(inst.order & Inst::Acquire));
    }
    together = 0;
  };
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    MbarrierState s;
    std::byte *host = locate(c, inst, l, address[l], owner, offset);
    if (!host || !load(c, inst, l, host, s))
      return Step::Error;
    uint32_t phase = inst.mod[0] ? c.src<uint32_t>(inst.op[2])[l] & 1
                                 : uint32_t(c.src<uint64_t>(inst.op[2])[l] & 1);
    if (s.phase != phase && !(mayGoOn >> l & 1)) {
      triesAgain = true;
      continue;
    }
    if (s.phase == phase) {
      if (c.timeline)
        c.timeline->mbarrierFailed(c);
      f.spinRank = owner->rank;
      f.spinOffset = offset;
      f.spinPhase = uint8_t(phase);
      continue;
    }
    done |= 1u << l;
    if (c.timeline)
      c.timeline->mbarrierPassed(c, *owner, offset);
    if (owner != doneOwner || offset != doneOffset)
      learn();
    doneOwner = owner;
    doneOffset = offset;
    together |= 1u << l;
  }
  learn();
  c.setPred(inst.op[0], done, mask);
  if (done == mask) {
    f.spinCount = 0;
    return Step::Next;
  }
  bool spins = !triesAgain && f.spinStamp == c.cluster->progress;
  f.spinCount = spins ? f.spinCount + 1 : 0;
  f.spinStamp = c.cluster->progress;
  f.spinAt = &inst;
  return Step::Yield;
}

uint32_t pendingCount(uint64_t state) {
  return MbarrierState::unpack(state).pending;
}

/// The mbarrier hears of the thread's earlier copies. mod[0]: .noinc.
Step execCopyArrive(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Cta *owner;
    uint32_t offset;
    if (!locate(c, inst, l, address[l], owner, offset))
      return Step::Error;
    uint32_t engine = 0, time = 0;
    if (c.checker) {
      engine = c.checker->engineOf(EngineKind::Copy, c.checker->threadOf(c, l));
      time = c.checker->tick(engine);
    }
    MbarrierChange change;
    change.byEngine = true;
    // Without .noinc the pending count goes up by the arrival that happens
    // later.
    if (!inst.mod[0]) {
      change.announce = 1;
      if (!changeMbarrier(c, inst, l, address[l], change, nullptr))
        return Step::Error;
      change.announce = 0;
    }
    change.arrivals = 1;
    const Schedule *schedule = c.cluster->schedule.get();
    uint64_t mark = schedule ? schedule->mark() : 0;
    auto arrive = [=, &inst, at = address[l],
                   thread = Schedule::threadOf(c, l)](Ctx &c) {
      if (c.cluster->schedule &&
          !c.cluster->schedule->finishUpTo(c, AsyncKind::Copy, thread, mark))
        return false;
      if (c.checker)
        c.checker->completesOn(*owner, offset, engine, time);
      return changeMbarrier(c, inst, l, at, change, nullptr);
    };
    if (!completeAsync(c, AsyncKind::Transfer, l, arrive))
      return Step::Error;
  }
  return Step::Next;
}

void takeScope(FunctionDecoder &d) {
  // Arrivals release and waits acquire unless they are relaxed.
  if (d.hasOneOf({"relaxed", "release", "acquire"}) != 0)
    d.inst.order = Inst::Strong | Inst::Acquire | Inst::Release;
  d.hasOneOf({"cta", "cluster"});
  d.hasOneOf({"shared", "shared::cta", "shared::cluster"});
}

bool decodeArrive(FunctionDecoder &d, Change change) {
  bool expect = d.has("expect_tx");
  d.has("noComplete");
  takeScope(d);
  d.takeType();
  Space space = Space::Shared;
  bool hasState = d.operand(0).kind != ast::Operand::Kind::Address;
  size_t at = hasState ? 1 : 0;
  if (!d.expectOperands(at + 1 + expect, at + 2) ||
      !d.address(d.operand(at), 1, space))
    return false;
  if (hasState && !d.isSink(d.operand(0)) && !d.dst(0, Type::B64, 0))
    return false;
  if (d.operandCount() > at + 1 && !d.src(at + 1, Type::B32, expect ? 3 : 2))
    return false;
  d.inst.mod[0] = change;
  return d.emit(execChange, Class::Barrier);
}

bool decodeTx(FunctionDecoder &d, Change change) {
  takeScope(d);
  d.takeType();
  Space space = Space::Shared;
  d.inst.mod[0] = change;
  return d.expectOperands(2, 2) && d.address(d.operand(0), 1, space) &&
         d.src(1, Type::B32, 3) && d.emit(execChange, Class::Barrier);
}

bool decodeMbarrierWait(FunctionDecoder &d, bool suspend) {
  d.inst.mod[0] = d.has("parity");
  d.inst.mod[1] = suspend;
  takeScope(d);
  d.takeType();
  Space space = Space::Shared;
  return d.expectOperands(3, suspend ? 4 : 3) &&
         d.address(d.operand(1), 1, space) &&
         d.src(2, d.inst.mod[0] ? Type::B32 : Type::B64, 2) &&
         d.dst(0, Type::Pred, 0) && d.emit(execWait, Class::Barrier);
}

bool decodeMbarrier(FunctionDecoder &d) {
  Space space = Space::Shared;
  if (d.operandCount() == 0)
    return d.error("needs an address");
  if (d.has("init")) {
    takeScope(d);
    d.takeType();
    return d.expectOperands(2, 2) && d.address(d.operand(0), 1, space) &&
           d.src(1, Type::B32, 2) && d.emit(execInit, Class::Barrier);
  }
  if (d.has("inval")) {
    takeScope(d);
    d.takeType();
    return d.expectOperands(1, 1) && d.address(d.operand(0), 1, space) &&
           d.emit(execInval, Class::Barrier);
  }
  if (d.has("arrive"))
    return decodeArrive(d, Arrive);
  if (d.has("arrive_drop"))
    return decodeArrive(d, Drop);
  if (d.has("expect_tx"))
    return decodeTx(d, ExpectTx);
  if (d.has("complete_tx"))
    return decodeTx(d, CompleteTx);
  if (d.has("test_wait"))
    return decodeMbarrierWait(d, false);
  if (d.has("try_wait"))
    return decodeMbarrierWait(d, true);
  if (d.has("pending_count")) {
    d.takeType();
    return d.expectOperands(2, 2) && d.src(1, Type::B64, 1) &&
           d.dst(0, Type::B32, 0) && d.emit(map<pendingCount>, Class::Barrier);
  }
  return d.error("unknown operation of mbarrier");
}
} // namespace

bool tile::sim::decodeCopyArrive(FunctionDecoder &d) {
  if (!d.has("arrive"))
    return d.error("needs .arrive");
  d.inst.mod[0] = d.has("noinc");
  takeScope(d);
  d.takeType();
  Space space = Space::Shared;
  return d.expectOperands(1, 1) && d.address(d.operand(0), 1, space) &&
         d.emit(execCopyArrive, Class::Async);
}

void tile::sim::registerMbarrier(DecodeTable &t) {
  t.insert({{"mbarrier", decodeMbarrier}});
}
