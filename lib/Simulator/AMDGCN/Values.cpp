//===-- Values.cpp - Which registers hold a value -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A register that nobody wrote may be read, as long as nothing comes of it:
// compilers let one run along where a lane will never look. So every lane of a
// vector register, and every bit of a scalar one, is known to hold a value or
// not. A result of an instruction holds one if all that it is computed from
// does. Scalar registers need this bit by bit since they are masks of
// lanes, put together of parts. Bits of other registers are followed where a
// part of them holds a value (KnownBits.cpp).
//
//===----------------------------------------------------------------------===//
#include "Values.h"
#include "VectorLanes.h"

#include <bit>
#include <span>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
/// What is known of an instruction's operands.
struct Operands {
  Ctx &c;
  const Inst &inst;
  const WaveProgram &program;
  Wave &wave;
  uint64_t exec;

  bool isScalar(uint32_t slot) const { return slot & ScalarBit; }
  bool isConstant(uint32_t slot) const {
    return slot == NoSlot || (slot & ConstBit);
  }
  uint32_t known(uint32_t slot, unsigned word) const {
    return isConstant(slot) ? ~0u
                            : wave.known[registerOf(program, slot) + word];
  }
  uint32_t value(uint32_t slot, unsigned word) const {
    if (slot == NoSlot)
      return 0;
    if (isConstant(slot))
      return uint32_t(scalarOf<uint64_t>(c, slot) >> 32 * word);
    return wave.scalar[registerOf(program, slot) + word];
  }
  /// Of a mask of the wave's lanes.
  uint64_t knownMask(uint32_t slot) const {
    return known(slot, 0) |
           (program.waveLanes == 64 ? uint64_t(known(slot, 1)) << 32 : 0);
  }
  /// The lanes in which an operand of one register holds a value.
  uint64_t lanes(uint32_t slot) const {
    if (isConstant(slot))
      return ~uint64_t(0);
    if (isScalar(slot))
      return known(slot, 0) == ~0u ? ~uint64_t(0) : 0;
    return definedLanes(c, program, registerOf(program, slot) - FirstVector);
  }
};

/// Two operands, bit by bit, by the table of the operation.
uint32_t combine(uint8_t table, uint32_t a, uint32_t b) {
  return (table & 8 ? a & b : 0) | (table & 4 ? a & ~b : 0) |
         (table & 2 ? ~a & b : 0) | (table & 1 ? ~a & ~b : 0);
}

/// The bits of the result that are the same whatever the unknown bits of the
/// operands are.
uint32_t knownBits(uint8_t table, uint32_t a, uint32_t knownA, uint32_t b,
                   uint32_t knownB) {
  uint32_t a0 = a & knownA, a1 = a | ~knownA, b0 = b & knownB, b1 = b | ~knownB,
           first = combine(table, a0, b0);
  return ~((first ^ combine(table, a0, b1)) | (first ^ combine(table, a1, b0)) |
           (first ^ combine(table, a1, b1)));
}

void report(const Operands &o, uint32_t reg, unsigned lane) {
  o.c.note(o.inst, lane, "uninitialized",
           "use of " + registerName(o.program, reg) +
               ", which holds no value that was ever written");
}

/// EXEC decides who takes part, so all of it must be known.
void checkExec(const Operands &o, uint32_t cause) {
  for (unsigned w = 0; w < o.program.maskWords(); ++w) {
    uint32_t &known = o.wave.known[Exec + w];
    if (known != ~0u)
      report(o, cause, 0);
    known = ~0u;
  }
}

/// Scalar logic: op[0] result, op[1] and op[2] operands. Of those that save
/// EXEC it is the second operand, and gets the result.
void trackBits(const Operands &o, bool saves) {
  unsigned words = o.inst.mod[1];
  uint32_t execSlot = ScalarBit | uint32_t(offsetof(Wave, scalar) + Exec * 4),
           from = o.inst.op[1], second = saves ? execSlot : o.inst.op[2],
           to = registerOf(o.program, saves ? execSlot : o.inst.op[0]),
           known[2] = {}, values = 0;
  bool all = true;
  for (unsigned w = 0; w < words; ++w) {
    uint32_t a = o.value(from, w), b = o.value(second, w);
    known[w] =
        knownBits(o.inst.mod[2], a, o.known(from, w), b, o.known(second, w));
    values |= combine(o.inst.mod[2], a, b) & known[w];
    all &= known[w] == ~0u;
  }
  for (unsigned w = 0; w < words; ++w) {
    if (saves)
      o.wave.known[registerOf(o.program, o.inst.op[0]) + w] = ~0u;
    o.wave.known[to + w] = known[w];
  }
  // Whether any bit is set.
  if (o.inst.mod[3] & WritesScc)
    o.wave.define(Scc, all || values);
  if (to == Exec)
    checkExec(o, o.isConstant(from) ? uint32_t(Exec)
                                    : registerOf(o.program, from));
}

/// s_cselect: one operand or, if nobody knows which, what both know.
void trackChoice(const Operands &o) {
  uint32_t to = registerOf(o.program, o.inst.op[0]);
  bool decided = o.wave.isDefined(Scc), first = o.wave.scalar[Scc];
  for (unsigned w = 0; w < o.inst.mod[1]; ++w) {
    uint32_t a = o.known(o.inst.op[1], w), b = o.known(o.inst.op[2], w);
    uint32_t same =
        a & b & ~(o.value(o.inst.op[1], w) ^ o.value(o.inst.op[2], w));
    o.wave.known[to + w] = !decided ? same : first ? a : b;
  }
  if (to == Exec)
    checkExec(o, Exec);
}

/// Of lanes that are read by others: the first source of DPP.
uint64_t movedLanes(uint64_t known, const LaneMoves &moves) {
  if (known == ~uint64_t(0))
    return known;
  uint64_t moved = moves.zero;
  for (unsigned l = 0; l < 64; ++l)
    moved |= (known >> moves.from[l] & 1) << l;
  return moved;
}

/// v_cndmask: of each lane, the operand that the mask chooses.
uint64_t chosenLanes(const Operands &o) {
  uint64_t mask = maskOf(o.c, o.inst.op[3]);
  return o.knownMask(o.inst.op[3]) &
         ((mask & o.lanes(o.inst.op[2])) | (~mask & o.lanes(o.inst.op[1])));
}

/// A result holds a value in `lanes`, of those that are `changed`.
void setLanes(const Operands &o, const RegisterUse &use, uint64_t lanes,
              uint64_t changed) {
  if (use.slot >= FirstVector) {
    uint64_t &known = definedLanes(o.c, o.program, use.slot - FirstVector);
    known = (known & ~changed) | (changed & lanes);
    forgetParts(o.c, o.program, use.slot - FirstVector, changed);
  } else if (use.half) {
    // Lanes that take no part are 0.
    o.wave.known[use.slot] =
        uint32_t((lanes | ~changed) >> (use.half == 1 ? 0 : 32));
  } else {
    // Of lanes, it is enough if one that takes part has a value.
    o.wave.define(use.slot, o.exec ? (lanes & o.exec) != 0 : lanes != 0);
  }
}

/// Whether something is to be said of bits, one by one.
bool isBitByBit(const Inst &inst) {
  return (inst.mod[3] & Bitwise) && inst.mod[1] >= EachBit &&
         !(inst.mod[3] & MovesLanes);
}

/// Instructions of which there is no more to know than what they read and
/// write, nearly all that run. These are those without traits. Where all lanes
/// of what is read hold values, they are the others, too. False, with nothing
/// done, if there is more, or what an instruction needs has no value.
bool trackPlain(const Operands &o) {
  std::span uses(o.c.code->registers.data() + o.inst.regs, o.inst.regCount);
  uint64_t lanes = ~uint64_t(0);
  for (const RegisterUse &use : uses) {
    if (use.written)
      continue;
    uint64_t known = knownLanes(o.c, use);
    if (use.isNeeded && (o.exec & ~known))
      return false;
    lanes &= known;
  }
  bool isEnough = isBitByBit(o.inst) && o.exec && !(o.exec & ~lanes);
  if ((o.inst.mod[3] & ~OneLane) && lanes != ~uint64_t(0) && !isEnough)
    return false;
  for (const RegisterUse &use : uses)
    if (use.written)
      setLanes(o, use, lanes, o.exec);
  return true;
}
} // namespace

uint64_t tile::sim::amdgcn::knownLanes(const Ctx &c, const RegisterUse &use) {
  if (use.slot >= FirstVector)
    return definedLanes(c, programOf(c), use.slot - FirstVector);
  uint32_t known = waveOf(c).known[use.slot];
  if (use.half)
    return use.half == 1 ? known | 0xffffffff00000000
                         : uint64_t(known) << 32 | 0xffffffff;
  return known == ~0u ? ~uint64_t(0) : 0;
}

void tile::sim::amdgcn::trackValues(Ctx &c, const Inst &inst) {
  const WaveProgram &p = programOf(c);
  Operands o{c, inst, p, waveOf(c), execOf(c)};
  if ((inst.mod[3] & Bitwise) && inst.mod[1] < EachBit) {
    inst.mod[2] == Choice ? trackChoice(o) : trackBits(o, inst.mod[0]);
    return;
  }
  // A result has a value in a lane where all that it is computed from has one;
  // DPP may leave some of EXEC's lanes alone.
  if (!(inst.mod[3] & MovesLanes) && inst.cls != Class::Collective &&
      trackPlain(o))
    return;
  if (isBitByBit(inst))
    return trackBitByBit(c, inst);
  uint64_t exec = o.exec, lanes = ~uint64_t(0), changed = exec;
  LaneMoves room{};
  const LaneMoves *moves =
      inst.mod[3] & MovesLanes ? takeMoves(c, inst, room, changed) : nullptr;
  const RegisterUse *uses = c.code->registers.data() + inst.regs;
  uint32_t lastRead = inst.regCount;
  uint64_t words[2];
  unsigned read = 0, written = 0;
  if (inst.mod[3] & UpperLast)
    for (uint32_t i = 0; i < inst.regCount; ++i)
      lastRead = uses[i].written ? lastRead : i;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    if (uses[i].written)
      continue;
    uint32_t reg = uses[i].slot;
    uint64_t known = knownLanes(c, uses[i]);
    if (moves && !uses[i].half) {
      known = movedLanes(known, *moves);
      moves = inst.mod[3] & EachWord ? moves : nullptr;
    }
    if (uses[i].isNeeded && (exec & ~known) && (reg < FirstVector || exec)) {
      report(o, reg, unsigned(std::countr_zero(exec & ~known)));
      known = ~uint64_t(0);
      if (reg < FirstVector)
        o.wave.define(reg);
      else
        definedLanes(c, p, reg - FirstVector) = known;
    }
    if (!(inst.mod[3] & AnyValue) && i != lastRead)
      lanes &= known;
    // What the text names comes before EXEC.
    if ((inst.mod[3] & EachWord) && read < 2)
      words[read++] = known;
  }
  // Those move what is known of a lane themselves.
  if (inst.cls == Class::Collective)
    return;
  if (inst.mod[3] & Chooses)
    lanes = chosenLanes(o);
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    if (!uses[i].written)
      continue;
    if (read == 2)
      lanes = words[written++];
    setLanes(o, uses[i], lanes, changed);
  }
}
