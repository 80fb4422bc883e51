//===-- VectorIndirect.cpp - Registers that M0 chooses --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An array that is indexed at run time may be in registers. v_movrels reads the
// one that is M0 behind its source. v_movreld writes the one that is M0 behind
// its result.
//
// Older GPUs have a mode in which v_mov_b32 does so; compilers switch it on for
// one of them at a time.
//
//===----------------------------------------------------------------------===//
#include "LaneFacts.h"
#include "VectorLanes.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
enum : uint8_t { MovesSource = 1, MovesResult = 2 };

/// op[0]: result, op[1]: source; mod[1]: which of them M0 moves.
Step execMoveRelative(Ctx &c, const Inst &inst, uint32_t) {
  const WaveProgram &p = programOf(c);
  uint32_t by = waveOf(c).scalar[M0] & (p.target->isGfx9() ? 255 : ~0u);
  auto moved = [&](uint32_t slot, uint8_t moves, uint32_t &number) {
    number = registerOf(p, slot) - FirstVector;
    if (!(inst.mod[1] & moves))
      return true;
    uint64_t to = uint64_t(number) + by;
    number = uint32_t(to);
    return to < p.vectorCount;
  };
  uint32_t from = 0, to = 0;
  bool isConstant = inst.op[1] & ScalarBit;
  if ((!isConstant && !moved(inst.op[1], MovesSource, from)) ||
      !moved(inst.op[0], MovesResult, to))
    return c.fail(inst, 0, "bad-register",
                  "M0 is " + std::to_string(by) +
                      ", which chooses a register behind those of the kernel");
  uint64_t exec = execOf(c);
  auto *out = c.dst<uint32_t>(p.vectorBase + to * p.waveLanes * 4);
  const auto *in = isConstant
                       ? nullptr
                       : c.src<uint32_t>(p.vectorBase + from * p.waveLanes * 4);
  uint32_t value = isConstant ? scalarOf<uint32_t>(c, inst.op[1]) : 0;
  for (unsigned l = 0; l < p.waveLanes; ++l)
    if (exec >> l & 1)
      out[l] = in ? in[l] : value;
  // What the text names says nothing about the registers that are meant.
  if (keepsFacts(c)) {
    auto slotOf = [&](uint32_t v) {
      return p.vectorBase + v * p.waveLanes * 4;
    };
    LaneFacts(c, in ? slotOf(from) : inst.op[1]).write(c, slotOf(to), exec);
  }
  return Step::Next;
}

template <uint8_t Moves> bool decodeMoveRelative(InstDecoder &d) {
  if (!d.expect(2, 2))
    return false;
  if ((Moves & MovesSource) && !d.operand(1).isRegister(File::Vector))
    return d.error("'" + d.operand(1).text + "' is no vector register");
  d.readScalar(M0, 1, Needed);
  d.inst.mod[1] = Moves;
  // Neither is a register that it reads or writes, if M0 moves it.
  uint32_t before = d.inst.regCount;
  if (!d.source(1, 1, Imm::B32, 1))
    return false;
  if ((Moves & MovesSource) && d.inst.regCount > before)
    d.forgetUse(1);
  before = d.inst.regCount;
  if (!d.vectorResult(0, 1, 0))
    return false;
  if (Moves & MovesResult)
    d.forgetUse(1);
  return d.emit(execMoveRelative, Class::Move);
}

/// s_set_gpr_idx_on: the index comes into M0.
Step execIndexOn(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t &m0 = waveOf(c).scalar[M0];
  m0 = (m0 & ~255u) | (scalarOf<uint32_t>(c, inst.op[1]) & 255);
  return Step::Next;
}
bool decodeIndexOn(InstDecoder &d) {
  const Instruction *move = d.in + 1, *off = d.in + 2,
                    *end = d.module.body.data() + d.module.body.size();
  if (!d.expect(2, 2))
    return false;
  const std::string &which = d.operand(1).text;
  if (which != "gpr_idx(SRC0)" && which != "gpr_idx(DST)")
    return d.error("'" + which + "' is not supported");
  if (off >= end || move->opcode != "v_mov_b32" ||
      off->opcode != "s_set_gpr_idx_off")
    return d.error("only one v_mov_b32 may stand between it and "
                   "s_set_gpr_idx_off");
  d.writeScalar(M0, 1);
  return d.scalar(0, 1, Imm::B32, 1, Needed) &&
         d.emit(execIndexOn, Class::Move);
}
} // namespace

std::string_view tile::sim::amdgcn::relativeMove(const InstDecoder &d) {
  if (d.in == d.module.body.data() || d.in->opcode != "v_mov_b32")
    return "";
  const Instruction &before = *(d.in - 1);
  if (before.opcode != "s_set_gpr_idx_on" || before.operands.size() != 2)
    return "";
  return before.operands[1].text == "gpr_idx(DST)" ? "v_movreld_b32"
                                                   : "v_movrels_b32";
}

void tile::sim::amdgcn::registerVectorIndirect(OpcodeTable &t) {
  t.insert({
      {"v_movrels_b32", decodeMoveRelative<MovesSource>},
      {"v_movreld_b32", decodeMoveRelative<MovesResult>},
      {"v_movrelsd_b32", decodeMoveRelative<MovesSource | MovesResult>},
      {"s_set_gpr_idx_on", decodeIndexOn},
  });
}
