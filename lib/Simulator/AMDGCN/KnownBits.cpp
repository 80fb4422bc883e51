//===-- KnownBits.cpp - What is known of each bit of a result -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM shifts a pair of registers of which the upper one holds no value, if it
// uses only bits that come from the lower one. So bits are followed through
// moves, logic, shifts and sums.
//
// Where one bit of each operand decides a bit of the result, the instruction
// itself says what is known. It runs with the unknown bits set, and with the
// unknown bits clear. What stays the same is known. This happens only where an
// operand holds no value in some lane.
//
//===----------------------------------------------------------------------===//
#include "Values.h"

#include <array>
#include <bit>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
constexpr unsigned MostLanes = 64;
using Words = std::array<uint32_t, MostLanes>;

/// A register as it is before the instruction runs, and its known bits. Scalar
/// ones have one lane.
struct Register {
  uint32_t number;
  Words value, known;
};

/// An instruction and the registers that it names.
class Tracker {
public:
  Tracker(Ctx &c, const Inst &inst)
      : c(c), inst(inst), program(programOf(c)), wave(waveOf(c)),
        exec(execOf(c)), uses(c.code->registers.data() + inst.regs) {}
  void run();

private:
  bool isControl(uint32_t reg) const;
  uint32_t *words(uint32_t reg) const {
    return reg < FirstVector
               ? &wave.scalar[reg]
               : c.dst<uint32_t>(program.vectorBase) +
                     size_t(reg - FirstVector) * program.waveLanes;
  }
  unsigned lanesOf(uint32_t reg) const {
    return reg < FirstVector ? 1 : program.waveLanes;
  }
  Register take(uint32_t reg) const;
  void restore(const Register &r, bool fillsUnknown, uint32_t fill) const;
  uint32_t knownOf(const std::vector<Register> &from, uint32_t reg,
                   unsigned lane) const;
  void findBitByBit();
  void findLowBits();
  void write();

  Ctx &c;
  const Inst &inst;
  const WaveProgram &program;
  Wave &wave;
  uint64_t exec;
  const RegisterUse *uses;
  std::vector<Register> sources, results;
  /// Lanes in which all is known that no bit stands for: how far to shift.
  uint64_t decided = ~uint64_t(0);
  bool writesScc = false;
};

/// Does the register say how the others are taken?
bool Tracker::isControl(uint32_t reg) const {
  for (unsigned i = 0; i < 3; ++i) {
    uint32_t slot = inst.op[1 + i];
    if (!(inst.mod[1] >> i & 1) || slot == NoSlot || (slot & ConstBit))
      continue;
    uint32_t first = registerOf(program, slot);
    // A mask has a register for each 32 lanes.
    if (reg == first || (reg < FirstVector && inst.cls == Class::Move &&
                         reg == first + program.maskWords() - 1))
      return true;
  }
  return false;
}

Register Tracker::take(uint32_t reg) const {
  Register r{reg, {}, {}};
  std::copy_n(words(reg), lanesOf(reg), r.value.begin());
  if (reg < FirstVector) {
    r.known[0] = wave.known[reg];
    return r;
  }
  uint64_t all = definedLanes(c, program, reg - FirstVector);
  const uint32_t *parts = knownParts(c, program, reg - FirstVector);
  for (unsigned l = 0; l < program.waveLanes; ++l)
    r.known[l] = all >> l & 1 ? ~0u : parts ? parts[l] : 0;
  return r;
}

void Tracker::restore(const Register &r, bool fillsUnknown,
                      uint32_t fill) const {
  uint32_t *to = words(r.number);
  for (unsigned l = 0; l < lanesOf(r.number); ++l)
    to[l] = fillsUnknown ? (r.value[l] & r.known[l]) | (fill & ~r.known[l])
                         : r.value[l];
}

void Tracker::findBitByBit() {
  std::vector<const Register *> doubtful;
  for (const Register &r : sources)
    for (unsigned l = 0; l < lanesOf(r.number); ++l)
      if (r.known[l] != ~0u && (r.number < FirstVector || (exec >> l & 1))) {
        doubtful.push_back(&r);
        break;
      }
  std::vector<Register> before = results;
  uint32_t scc = wave.scalar[Scc];
  for (uint32_t choice = 0; choice < 1u << doubtful.size(); ++choice) {
    for (const Register &r : before)
      restore(r, false, 0);
    for (const Register &r : sources)
      restore(r, false, 0);
    for (size_t i = 0; i < doubtful.size(); ++i)
      restore(*doubtful[i], true, choice >> i & 1 ? ~0u : 0);
    inst.fn(c, inst, FullMask);
    for (Register &r : results) {
      const uint32_t *now = words(r.number);
      for (unsigned l = 0; l < lanesOf(r.number); ++l) {
        if (!choice) {
          r.value[l] = now[l];
          r.known[l] = ~0u;
        }
        r.known[l] &= ~(r.value[l] ^ now[l]);
      }
    }
  }
  for (const Register &r : before)
    restore(r, false, 0);
  for (const Register &r : sources)
    restore(r, false, 0);
  wave.scalar[Scc] = scc;
  // Whether any bit is set.
  uint32_t set = 0, all = ~0u;
  for (const Register &r : results) {
    set |= r.value[0] & r.known[0];
    all &= r.known[0];
  }
  if (writesScc)
    wave.define(Scc, (decided & 1) && (set || all == ~0u));
}

/// Of what is added, subtracted or multiplied, a bit has its value from the
/// bits of the operands up to this one.
void Tracker::findLowBits() {
  for (Register &r : results)
    r.known.fill(~0u);
  bool all = true;
  auto find = [&](uint32_t reg) -> const Register * {
    for (const Register &r : sources)
      if (r.number == reg)
        return &r;
    return nullptr;
  };
  for (unsigned i = 0; i < 3; ++i) {
    uint32_t slot = inst.op[1 + i];
    if (slot == NoSlot || (slot & ConstBit))
      continue;
    uint32_t reg = registerOf(program, slot);
    const Register *low = find(reg), *high = find(reg + 1);
    if (!low)
      continue;
    for (unsigned l = 0; l < lanesOf(results[0].number); ++l) {
      // Of a scalar, all lanes know the same.
      unsigned from = reg < FirstVector ? 0 : l;
      auto count = unsigned(std::countr_one(low->known[from]));
      if (count == 32)
        count += high ? unsigned(std::countr_one(high->known[from])) : 32;
      all &= count == 64;
      for (size_t w = 0; w < results.size(); ++w)
        if (count < 32 * (w + 1))
          results[w].known[l] &=
              count <= 32 * w ? 0 : (1u << (count - 32 * w)) - 1;
    }
  }
  if (writesScc)
    wave.define(Scc, all && (decided & 1));
}

void Tracker::write() {
  for (const Register &r : results) {
    if (r.number < FirstVector) {
      wave.known[r.number] = decided & 1 ? r.known[0] : 0;
      continue;
    }
    uint32_t vector = r.number - FirstVector;
    uint64_t full = 0, some = 0;
    for (unsigned l = 0; l < program.waveLanes; ++l) {
      uint32_t known = decided >> l & 1 ? r.known[l] : 0;
      full |= uint64_t(known == ~0u) << l;
      some |= uint64_t(known && known != ~0u) << l;
    }
    uint64_t &defined = definedLanes(c, program, vector);
    defined = (defined & ~exec) | (full & exec);
    forgetParts(c, program, vector, exec);
    if (!(some & exec))
      continue;
    if (c.frame->initialized.empty())
      c.frame->initialized.resize(
          size_t(program.vectorCount + program.accumulatorCount) *
          program.waveLanes);
    uint32_t *parts = knownParts(c, program, vector);
    for (uint64_t m = some & exec; m; m &= m - 1) {
      auto l = unsigned(std::countr_zero(m));
      parts[l] = r.known[l];
    }
  }
}

void Tracker::run() {
  auto has = [](const std::vector<Register> &in, uint32_t reg) {
    for (const Register &r : in)
      if (r.number == reg)
        return true;
    return false;
  };
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    uint32_t reg = uses[i].slot;
    if (uses[i].written) {
      writesScc |= reg == Scc;
      if (reg != Scc)
        results.push_back(take(reg));
    } else if (reg == Exec || reg == Exec + 1) {
      continue; // Who takes part is known.
    } else if (isControl(reg)) {
      decided &= knownLanes(c, uses[i]);
    } else if (!has(sources, reg)) {
      sources.push_back(take(reg));
    }
  }
  if (results.empty())
    return;
  inst.mod[1] & LowBits ? findLowBits() : findBitByBit();
  write();
}
} // namespace

void tile::sim::amdgcn::trackBitByBit(Ctx &c, const Inst &inst) {
  Tracker(c, inst).run();
}
