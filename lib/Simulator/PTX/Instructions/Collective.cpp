//===-- Collective.cpp - shfl, vote, match, redux, activemask, elect ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A .sync instruction runs once all live lanes of its member mask stand at it;
// the lanes that come first wait (Ctx::gather). Lanes of one fragment may name
// different masks, so each mask is served by itself.
//
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Schedule.h"
#include "Families.h"

#include <algorithm>

using namespace tile::sim;

namespace {
/// Waits for the members. Returns Next if all are here, else what the handler
/// must return.
Step converge(Ctx &c, const Inst &inst, uint32_t mask, uint32_t maskSlot) {
  const uint32_t *members = c.src<uint32_t>(maskSlot);
  uint32_t need = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (!(members[l] >> l & 1))
      return c.fail(inst, l, "bad-member-mask",
                    "the executing lane is not in its own member mask");
    need |= members[l];
  }
  bool retry;
  if (!c.gather(need, retry))
    return retry ? Step::Jump : Step::Block;
  // Lanes that the guard switched off will never come to this instruction's
  // execution.
  if (need & c.active & ~mask)
    return c.fail(inst, firstLane(need & c.active & ~mask), "missing-lanes",
                  "a lane of the member mask does not execute the instruction: "
                  "its guard is false");
  if (c.checker)
    c.checker->collective(c, mask);
  return Step::Next;
}

enum Shfl : uint8_t { Up, Down, Bfly, Idx };

Step execShfl(Ctx &c, const Inst &inst, uint32_t mask) {
  if (inst.op[5] != NoSlot)
    if (Step s = converge(c, inst, mask, inst.op[5]); s != Step::Next)
      return s;
  const uint32_t *a = c.src<uint32_t>(inst.op[2]),
                 *b = c.src<uint32_t>(inst.op[3]),
                 *k = c.src<uint32_t>(inst.op[4]);
  uint32_t out[Lanes];
  uint32_t valid = 0;
  for (unsigned l = 0; l < Lanes; ++l) {
    int bval = int(b[l] & 31), cval = int(k[l] & 31),
        segment = int(k[l] >> 8 & 31), lane = int(l);
    int maxLane = (lane & segment) | (cval & ~segment),
        minLane = lane & segment, from = 0;
    bool in = false;
    switch (Shfl(inst.mod[0])) {
    case Up:
      from = lane - bval;
      in = from >= maxLane;
      break;
    case Down:
      from = lane + bval;
      in = from <= maxLane;
      break;
    case Bfly:
      from = lane ^ bval;
      in = from <= maxLane;
      break;
    case Idx:
      from = minLane | (bval & ~segment);
      in = from <= maxLane;
      break;
    }
    if (!in)
      from = lane;
    valid |= uint32_t(in) << l;
    out[l] = a[from & 31];
    if ((mask >> l & 1) && in && !(mask >> (from & 31) & 1) &&
        c.checks & CheckBarriers && !(c.warp->exited >> (from & 31) & 1))
      c.note(inst, l, "inactive-lane",
             "the value comes from lane " + std::to_string(from) +
                 ", which does not take part");
  }
  commit(c.dst<uint32_t>(inst.op[0]), out, mask);
  if (inst.op[1] != NoSlot)
    c.setPred(inst.op[1], valid, mask);
  return Step::Next;
}

enum Vote : uint8_t { All, Any, Uni, Ballot };

Step execVote(Ctx &c, const Inst &inst, uint32_t mask) {
  if (inst.op[2] != NoSlot)
    if (Step s = converge(c, inst, mask, inst.op[2]); s != Step::Next)
      return s;
  uint32_t p = c.pred(inst.op[1]);
  const uint32_t *members =
      inst.op[2] != NoSlot ? c.src<uint32_t>(inst.op[2]) : nullptr;
  uint32_t results = 0;
  eachLane(mask, [&](unsigned l) {
    uint32_t group = (members ? members[l] : FullMask) & mask, yes = p & group;
    bool value = inst.mod[0] == All   ? yes == group
                 : inst.mod[0] == Any ? yes != 0
                                      : yes == 0 || yes == group;
    if (inst.mod[0] == Ballot)
      c.dst<uint32_t>(inst.op[0])[l] = yes;
    results |= uint32_t(value) << l;
  });
  if (inst.mod[0] != Ballot)
    c.setPred(inst.op[0], results, mask);
  return Step::Next;
}

template <class S> Step execMatch(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = converge(c, inst, mask, inst.op[3]); s != Step::Next)
    return s;
  const S *a = c.src<S>(inst.op[2]);
  const uint32_t *members = c.src<uint32_t>(inst.op[3]);
  uint32_t out[Lanes] = {}, all = 0;
  eachLane(mask, [&](unsigned l) {
    uint32_t group = members[l] & mask, same = 0;
    eachLane(group, [&](unsigned m) { same |= uint32_t(a[m] == a[l]) << m; });
    out[l] = inst.mod[0] ? (same == group ? group : 0) : same;
    all |= uint32_t(same == group) << l;
  });
  commit(c.dst<uint32_t>(inst.op[0]), out, mask);
  if (inst.op[1] != NoSlot)
    c.setPred(inst.op[1], all, mask);
  return Step::Next;
}

enum Redux : uint8_t { RAdd, RMin, RMax, RAnd, ROr, RXor };

template <class T> Step execRedux(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = converge(c, inst, mask, inst.op[2]); s != Step::Next)
    return s;
  const uint32_t *a = c.src<uint32_t>(inst.op[1]),
                 *members = c.src<uint32_t>(inst.op[2]);
  uint32_t out[Lanes] = {};
  eachLane(mask, [&](unsigned l) {
    uint32_t group = members[l] & mask;
    T r = T(a[firstLane(group)]);
    eachLane(group & (group - 1), [&](unsigned m) {
      T v = T(a[m]);
      switch (Redux(inst.mod[0])) {
      case RAdd:
        r = T(uint32_t(r) + uint32_t(v));
        break;
      case RMin:
        r = std::min(r, v);
        break;
      case RMax:
        r = std::max(r, v);
        break;
      case RAnd:
        r &= v;
        break;
      case ROr:
        r |= v;
        break;
      case RXor:
        r ^= v;
        break;
      }
    });
    out[l] = uint32_t(r);
  });
  commit(c.dst<uint32_t>(inst.op[0]), out, mask);
  return Step::Next;
}

/// redux.f32: mod[0] min or max, mod[1] .abs, mod[2] .NaN.
Step execReduxFloat(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = converge(c, inst, mask, inst.op[2]); s != Step::Next)
    return s;
  const float *a = c.src<float>(inst.op[1]);
  const uint32_t *members = c.src<uint32_t>(inst.op[2]);
  uint32_t out[Lanes] = {};
  eachLane(mask, [&](unsigned l) {
    bool first = true, sawNan = false;
    float r = floatOfBits(nanF32);
    eachLane(members[l] & mask, [&](unsigned m) {
      float v = inst.mod[1] ? std::fabs(a[m]) : a[m];
      if (v != v) {
        sawNan = true;
        return;
      }
      bool less = v < r || (v == r && std::signbit(v));
      if (first || (inst.mod[0] == RMin ? less : !less))
        r = v;
      first = false;
    });
    out[l] = inst.mod[2] && sawNan ? nanF32 : bitsOfFloat(r);
  });
  commit(c.dst<uint32_t>(inst.op[0]), out, mask);
  return Step::Next;
}

Step execActivemask(Ctx &c, const Inst &inst, uint32_t mask) {
  eachLane(mask, [&](unsigned l) { c.dst<uint32_t>(inst.op[0])[l] = mask; });
  return Step::Next;
}
Step execElect(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = converge(c, inst, mask, inst.op[2]); s != Step::Next)
    return s;
  const uint32_t *members = c.src<uint32_t>(inst.op[2]);
  uint32_t leaders = 0, out[Lanes] = {};
  const Schedule *schedule = c.cluster->schedule.get();
  eachLane(mask, [&](unsigned l) {
    uint32_t lanes = members[l] & mask;
    unsigned leader = schedule ? schedule->elected(lanes) : firstLane(lanes);
    out[l] = leader;
    leaders |= uint32_t(leader == l) << l;
  });
  commit(c.dst<uint32_t>(inst.op[0]), out, mask);
  c.setPred(inst.op[1], leaders, mask);
  return Step::Next;
}
Step execWarpBarrier(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = converge(c, inst, mask, inst.op[0]); s != Step::Next)
    return s;
  const uint32_t *members = c.src<uint32_t>(inst.op[0]);
  for (uint32_t left = c.checker ? mask : 0; left;) {
    uint32_t group = 0, wanted = members[firstLane(left)];
    eachLane(left,
             [&](unsigned l) { group |= uint32_t(members[l] == wanted) << l; });
    c.checker->warpSync(c, group);
    left &= ~group;
  }
  return Step::Next;
}

//===-- Decoders ----------------------------------------------------------===//

bool decodeShfl(FunctionDecoder &d) {
  bool sync = d.has("sync");
  int mode = d.hasOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || bitsOf(d.takeType()) != 32)
    return d.error("needs a mode and .b32");
  if (!sync)
    return d.error("needs .sync on this target");
  d.inst.mod[0] = uint8_t(mode);
  if (!d.expectOperands(5, 5) || !d.src(1, Type::B32, 2) ||
      !d.src(2, Type::B32, 3) || !d.src(3, Type::B32, 4) ||
      !d.src(4, Type::B32, 5))
    return false;
  if (const ast::Operand *p = d.second(0))
    if (!d.isSink(*p) && !d.predDst(*p, d.inst.op[1]))
      return false;
  return d.dst(d.first(0), Type::B32, d.inst.op[0]) &&
         d.emit(execShfl, Class::Collective);
}
bool decodeVote(FunctionDecoder &d) {
  if (!d.has("sync"))
    return d.error("needs .sync on this target");
  int mode = d.hasOneOf({"all", "any", "uni", "ballot"});
  Type type = d.takeType();
  if (mode < 0 || type != (mode == Ballot ? Type::B32 : Type::Pred))
    return d.error("needs .all, .any, .uni with .pred or .ballot with .b32");
  d.inst.mod[0] = uint8_t(mode);
  return d.expectOperands(3, 3) && d.src(1, Type::Pred, 1) &&
         d.src(2, Type::B32, 2) && d.dst(0, type, 0) &&
         d.emit(execVote, Class::Collective);
}
bool decodeMatch(FunctionDecoder &d) {
  int mode = d.hasOneOf({"any", "all"});
  d.has("sync");
  Type type = d.takeType();
  if (mode < 0 || (type != Type::B32 && type != Type::B64))
    return d.error("needs .any or .all and .b32 or .b64");
  d.inst.mod[0] = uint8_t(mode);
  if (!d.expectOperands(3, 3) || !d.src(1, type, 2) || !d.src(2, Type::B32, 3))
    return false;
  if (const ast::Operand *p = d.second(0))
    if (!d.isSink(*p) && !d.predDst(*p, d.inst.op[1]))
      return false;
  return d.dst(d.first(0), Type::B32, d.inst.op[0]) &&
         d.emit(type == Type::B64 ? execMatch<uint64_t> : execMatch<uint32_t>,
                Class::Collective);
}
bool decodeRedux(FunctionDecoder &d) {
  d.has("sync");
  int op = d.hasOneOf({"add", "min", "max", "and", "or", "xor"});
  d.inst.mod[1] = d.has("abs");
  d.inst.mod[2] = d.has("NaN");
  Type type = d.takeType();
  if (op < 0)
    return d.error("needs an operation");
  d.inst.mod[0] = uint8_t(op);
  if (!uniformOperands(d, Type::B32, 2))
    return false;
  if (type == Type::F32 && (op == RMin || op == RMax))
    return d.emit(execReduxFloat, Class::Collective);
  if (type == Type::S32)
    return d.emit(execRedux<int32_t>, Class::Collective);
  if (type == Type::U32 || type == Type::B32)
    return d.emit(execRedux<uint32_t>, Class::Collective);
  return d.badType(type);
}
bool decodeActivemask(FunctionDecoder &d) {
  d.takeType();
  return d.expectOperands(1, 1) && d.dst(0, Type::B32, 0) &&
         d.emit(execActivemask, Class::Collective);
}
bool decodeElect(FunctionDecoder &d) {
  d.has("sync");
  if (!d.expectOperands(2, 2) || !d.second(0))
    return d.error("needs d|p and a member mask");
  return d.src(1, Type::B32, 2) && d.dst(d.first(0), Type::B32, d.inst.op[0]) &&
         d.predDst(*d.second(0), d.inst.op[1]) &&
         d.emit(execElect, Class::Collective);
}
} // namespace

bool tile::sim::decodeWarpBarrier(FunctionDecoder &d) {
  d.has("sync");
  return d.expectOperands(1, 1) && d.src(0, Type::B32, 0) &&
         d.emit(execWarpBarrier, Class::Barrier);
}

void tile::sim::registerCollective(DecodeTable &t) {
  t.insert({{"shfl", decodeShfl},
            {"vote", decodeVote},
            {"match", decodeMatch},
            {"redux", decodeRedux},
            {"activemask", decodeActivemask},
            {"elect", decodeElect}});
}
