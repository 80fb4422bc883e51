//===-- Move.cpp - mov, vectors, address spaces, decoder helpers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../ClusterAddress.h"
#include "../../Timeline.h"
#include "Families.h"

#include <algorithm>
#include <chrono>

using namespace tile::sim;
using OK = ast::Operand::Kind;

//===-- Helpers that the decoder emits ------------------------------------===//

static uint32_t truncated(uint64_t a) { return uint32_t(a); }
static uint64_t widened(uint32_t a) { return a; }

Step tile::sim::execTruncate(Ctx &c, const Inst &inst, uint32_t mask) {
  return map<truncated>(c, inst, mask);
}
Step tile::sim::execWiden(Ctx &c, const Inst &inst, uint32_t mask) {
  return map<widened>(c, inst, mask);
}

Step tile::sim::execQuadToDouble(Ctx &c, const Inst &inst, uint32_t mask) {
  commit(c.dst<uint64_t>(inst.op[0]), c.src<uint64_t>(inst.op[1]), mask);
  return Step::Next;
}
Step tile::sim::execDoubleToQuad(Ctx &c, const Inst &inst, uint32_t mask) {
  static const uint64_t zero[Lanes] = {};
  commit(c.dst<uint64_t>(inst.op[0]), c.src<uint64_t>(inst.op[1]), mask);
  commit(c.dst<uint64_t>(inst.op[0]) + Lanes, zero, mask);
  return Step::Next;
}
Step tile::sim::execWordToQuad(Ctx &c, const Inst &inst, uint32_t mask) {
  static const uint64_t zero[Lanes] = {};
  uint64_t wide[Lanes];
  std::copy_n(c.src<uint32_t>(inst.op[1]), Lanes, wide);
  commit(c.dst<uint64_t>(inst.op[0]), wide, mask);
  commit(c.dst<uint64_t>(inst.op[0]) + Lanes, zero, mask);
  return Step::Next;
}
Step tile::sim::execNotPred(Ctx &c, const Inst &inst, uint32_t) {
  *c.dst<uint32_t>(inst.op[0]) = ~c.pred(inst.op[1]);
  return Step::Next;
}
Step tile::sim::execWordToPred(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t bits = 0;
  for (unsigned l = 0; l < Lanes; ++l)
    bits |= uint32_t(c.src<uint32_t>(inst.op[1])[l] != 0) << l;
  *c.dst<uint32_t>(inst.op[0]) = bits;
  return Step::Next;
}
Step tile::sim::execLocalAddress(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t address = uint64_t(c.frame->localBase) + uint64_t(inst.imm);
  eachLane(mask, [&](unsigned l) {
    if (inst.mod[0])
      c.dst<uint64_t>(inst.op[0])[l] = address;
    else
      c.dst<uint32_t>(inst.op[0])[l] = uint32_t(address);
  });
  return Step::Next;
}
/// Clocks are those of the latency model where the cluster has a timeline. Else
/// they count its instructions. Both are deterministic, and monotonic.
Step tile::sim::execReadClock(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t now = c.timeline ? c.timeline->getCycle(c) : 32 * ++c.cluster->clock;
  switch (Special(inst.imm)) {
  case Special::Clock64:
  case Special::GlobalTimer:
    eachLane(mask, [&](unsigned l) { c.dst<uint64_t>(inst.op[0])[l] = now; });
    return Step::Next;
  case Special::ClockHi:
  case Special::GlobalTimerHi:
    now >>= 32;
    break;
  default:
    break;
  }
  eachLane(mask,
           [&](unsigned l) { c.dst<uint32_t>(inst.op[0])[l] = uint32_t(now); });
  return Step::Next;
}

namespace {
uint16_t move16(uint16_t a) { return a; }
uint32_t move32(uint32_t a) { return a; }
uint64_t move64(uint64_t a) { return a; }
Step execMove128(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint64_t *from = c.src<uint64_t>(inst.op[1]);
  uint64_t *to = c.dst<uint64_t>(inst.op[0]);
  commit(to, from, mask);
  commit(to + Lanes, from + Lanes, mask);
  return Step::Next;
}
Step execMovePred(Ctx &c, const Inst &inst, uint32_t mask) {
  c.setPred(inst.op[0], c.pred(inst.op[1]), mask);
  return Step::Next;
}

//===-- Vectors in one register -------------------------------------------===//

/// Element i of a packed value that may be 16 to 128 bits wide; mod[0] is the
/// width of an element.
Step execPack(Ctx &c, const Inst &inst, uint32_t mask) {
  unsigned width = inst.mod[0], total = width * inst.extCount;
  const uint32_t *slots = &c.code->ext[inst.ext];
  eachLane(mask, [&](unsigned l) {
    unsigned __int128 value = 0;
    for (unsigned i = 0; i < inst.extCount; ++i) {
      unsigned __int128 part =
          width == 64 ? c.src<uint64_t>(slots[i])[l]
                      : c.src<uint32_t>(slots[i])[l] &
                            (width == 32 ? ~0u : (1u << width) - 1);
      value |= part << (i * width);
    }
    if (total <= 32) {
      c.dst<uint32_t>(inst.op[0])[l] = uint32_t(value);
    } else {
      c.dst<uint64_t>(inst.op[0])[l] = uint64_t(value);
      if (total == 128)
        c.dst<uint64_t>(inst.op[0])[Lanes + l] = uint64_t(value >> 64);
    }
  });
  return Step::Next;
}

Step execUnpack(Ctx &c, const Inst &inst, uint32_t mask) {
  unsigned width = inst.mod[0], total = width * inst.extCount;
  const uint32_t *slots = &c.code->ext[inst.ext];
  eachLane(mask, [&](unsigned l) {
    unsigned __int128 value = total <= 32 ? c.src<uint32_t>(inst.op[1])[l]
                                          : c.src<uint64_t>(inst.op[1])[l];
    if (total == 128)
      value |= (unsigned __int128)(c.src<uint64_t>(inst.op[1])[Lanes + l])
               << 64;
    for (unsigned i = 0; i < inst.extCount; ++i) {
      if (slots[i] == NoSlot)
        continue;
      uint64_t part = uint64_t(value >> (i * width));
      if (width == 64)
        c.dst<uint64_t>(slots[i])[l] = part;
      else
        c.dst<uint32_t>(slots[i])[l] =
            uint32_t(part) & (width == 32 ? ~0u : (1u << width) - 1);
    }
  });
  return Step::Next;
}

Type untyped(unsigned bits) {
  return bits == 8     ? Type::B8
         : bits == 16  ? Type::B16
         : bits == 32  ? Type::B32
         : bits == 64  ? Type::B64
         : bits == 128 ? Type::B128
                       : Type::None;
}

bool decodePackedMove(FunctionDecoder &d, Type type) {
  bool unpack = d.operand(0).kind == OK::Vector;
  const ast::Operand &vector = d.operand(unpack ? 0 : 1);
  size_t count = vector.elems.size();
  if (count != 2 && count != 4)
    return d.errorAt(vector, "expected two or four elements");
  Type element = untyped(bitsOf(type) / unsigned(count));
  if (element == Type::None || bitsOf(type) < 16)
    return d.badType(type);
  if (unpack ? !d.src(1, type, 1) : !d.dst(0, type, 0))
    return false;
  std::vector<uint32_t> slots;
  for (const ast::Operand &e : vector.elems) {
    uint32_t slot = NoSlot;
    if (unpack ? !d.isSink(e) && !d.dst(e, element, slot)
               : !d.src(e, element, slot))
      return false;
    slots.push_back(slot);
  }
  d.setExt(slots);
  d.inst.mod[0] = uint8_t(bitsOf(element));
  return d.emit(unpack ? execUnpack : execPack, Class::Move);
}

bool decodeMov(FunctionDecoder &d) {
  Type type = d.takeType();
  if (!d.needType(type) || !d.expectOperands(2, 2))
    return false;
  if (d.operand(0).kind == OK::Vector || d.operand(1).kind == OK::Vector)
    return decodePackedMove(d, type);
  if (!d.src(1, type, 1) || !d.dst(0, type, 0))
    return false;
  if (type == Type::Pred)
    return d.emit(execMovePred, Class::Move);
  switch (bitsOf(type)) {
  case 16:
    return d.emit(map<move16>, Class::Move);
  case 32:
    return d.emit(map<move32>, Class::Move);
  case 64:
    return d.emit(map<move64>, Class::Move);
  case 128:
    return d.emit(execMove128, Class::Move);
  default:
    return d.badType(type);
  }
}

//===-- Address spaces ----------------------------------------------------===//

/// imm is the window that separates the space from generic addresses.
template <bool ToSpace> Step execCvta(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint64_t *a = c.src<uint64_t>(inst.op[1]);
  uint64_t out[Lanes];
  for (unsigned l = 0; l < Lanes; ++l)
    out[l] = ToSpace ? a[l] - uint64_t(inst.imm) : a[l] + uint64_t(inst.imm);
  commit(c.dst<uint64_t>(inst.op[0]), out, mask);
  return Step::Next;
}

uint64_t windowOf(Space space) {
  return space == Space::Shared || space == Space::SharedCluster ? SharedWindow
         : space == Space::Local                                 ? LocalWindow
         : space == Space::Param                                 ? ParamWindow
                                                                 : 0;
}

int takeSpace(FunctionDecoder &d) {
  return d.hasOneOf({"global", "shared", "shared::cta", "shared::cluster",
                     "local", "const", "param", "param::entry"});
}
constexpr Space spaceList[] = {
    Space::Global, Space::Shared, Space::Shared, Space::SharedCluster,
    Space::Local,  Space::Const,  Space::Param,  Space::Param};

bool decodeCvta(FunctionDecoder &d) {
  bool to = d.has("to");
  int space = takeSpace(d);
  Type type = d.takeType();
  if (space < 0 || type != Type::U64)
    return d.error("needs a space and .u64");
  d.inst.imm = int64_t(windowOf(spaceList[space]));
  return uniformOperands(d, type, 1) &&
         d.emit(to ? execCvta<true> : execCvta<false>, Class::Integer);
}

/// mod[0]: the space asked for.
Step execIsspacep(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint64_t *a = c.src<uint64_t>(inst.op[1]);
  uint32_t bits = 0;
  for (unsigned l = 0; l < Lanes; ++l) {
    uint64_t window = a[l] >> WindowShift;
    bool yes = false;
    switch (Space(inst.mod[0])) {
    case Space::Shared:
      yes = window == 1 &&
            (clusterPrefix(a[l]) == 0 || clusterRank(a[l]) == c.cta->rank);
      break;
    case Space::SharedCluster:
      yes = window == 1;
      break;
    case Space::Local:
      yes = window == 2;
      break;
    case Space::Param:
      yes = window == 3;
      break;
    case Space::Const:
      yes = false;
      break;
    default:
      yes = window == 0;
      break;
    }
    bits |= uint32_t(yes) << l;
  }
  c.setPred(inst.op[0], bits, mask);
  return Step::Next;
}
bool decodeIsspacep(FunctionDecoder &d) {
  int space = takeSpace(d);
  if (space < 0)
    return d.error("needs a space");
  d.inst.mod[0] = uint8_t(spaceList[space]);
  return d.expectOperands(2, 2) && d.src(1, Type::B64, 1) &&
         d.dst(0, Type::Pred, 0) && d.emit(execIsspacep, Class::Compare);
}

//===-- Clusters ----------------------------------------------------------===//

/// The address of the same variable in another CTA.
template <class S> Step execMapa(Ctx &c, const Inst &inst, uint32_t mask) {
  const S *a = c.src<S>(inst.op[1]);
  const uint32_t *rank = c.src<uint32_t>(inst.op[2]);
  bool generic = sizeof(S) == 8 && inst.space == Space::Generic;
  S out[Lanes] = {};
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (rank[l] >= c.cluster->ctas.size())
      return c.fail(inst, l, "bad-cluster-rank",
                    "CTA rank " + std::to_string(rank[l]) +
                        " is not in the cluster of " +
                        std::to_string(c.cluster->ctas.size()));
    out[l] = S(clusterAddress(uint32_t(a[l]), rank[l])) |
             S(generic ? SharedWindow : 0);
  }
  commit(c.dst<S>(inst.op[0]), out, mask);
  return Step::Next;
}
template <class S>
Step execGetCtaRank(Ctx &c, const Inst &inst, uint32_t mask) {
  const S *a = c.src<S>(inst.op[1]);
  eachLane(mask, [&](unsigned l) {
    c.dst<uint32_t>(inst.op[0])[l] =
        clusterPrefix(a[l]) ? clusterRank(a[l]) : c.cta->rank;
  });
  return Step::Next;
}
bool decodeMapa(FunctionDecoder &d) {
  d.inst.space =
      d.has("shared::cluster") ? Space::SharedCluster : Space::Generic;
  Type type = d.takeType();
  if (type != Type::U32 && type != Type::U64)
    return d.badType(type);
  return d.expectOperands(3, 3) && d.src(1, type, 1) &&
         d.src(2, Type::B32, 2) && d.dst(0, type, 0) &&
         d.emit(type == Type::U64 ? execMapa<uint64_t> : execMapa<uint32_t>,
                Class::Integer);
}
bool decodeGetCtaRank(FunctionDecoder &d) {
  d.has("shared::cluster");
  Type type = d.takeType();
  if (type != Type::U32 && type != Type::U64)
    return d.badType(type);
  return d.expectOperands(2, 2) && d.src(1, type, 1) &&
         d.dst(0, Type::B32, 0) &&
         d.emit(type == Type::U64 ? execGetCtaRank<uint64_t>
                                  : execGetCtaRank<uint32_t>,
                Class::Integer);
}
} // namespace

void tile::sim::registerMove(DecodeTable &t) {
  t.insert({{"mov", decodeMov},
            {"cvta", decodeCvta},
            {"isspacep", decodeIsspacep},
            {"mapa", decodeMapa},
            {"getctarank", decodeGetCtaRank}});
}
