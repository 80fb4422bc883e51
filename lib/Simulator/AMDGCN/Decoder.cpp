//===-- Decoder.cpp - Operands and modifiers ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "../Numeric.h"

#include <algorithm>
#include <cstring>
#include <deque>

using namespace tile::sim;
using namespace tile::sim::amdgcn;
using OK = Operand::Kind;

const OpcodeTable &tile::sim::amdgcn::opcodeTable() {
  static const OpcodeTable table = [] {
    OpcodeTable t;
    for (auto add : {registerScalar,
                     registerScalarCompare,
                     registerScalarFloat,
                     registerControl,
                     registerScalarMemory,
                     registerVectorInteger,
                     registerVectorInteger64,
                     registerVectorIndirect,
                     registerVectorFloat,
                     registerVectorDouble,
                     registerVectorHalf,
                     registerVectorBfloat,
                     registerVectorCompare,
                     registerVectorConvert,
                     registerScaledConvert,
                     registerPacked,
                     registerLane,
                     registerGlobal,
                     registerBuffer,
                     registerShared,
                     registerMatrix,
                     registerScaledMatrix,
                     registerSparseMatrix,
                     registerTensorCopy})
      add(t);
    return t;
  }();
  return table;
}

std::string_view tile::sim::amdgcn::keepName(std::string name) {
  static std::deque<std::string> names;
  return names.emplace_back(std::move(name));
}

//===-- Operands ----------------------------------------------------------===//

bool InstDecoder::expect(size_t least, size_t most) {
  if (operandCount() >= least && operandCount() <= most)
    return true;
  return error("has " + std::to_string(operandCount()) + " operands, " +
               (least == most
                    ? std::to_string(least)
                    : std::to_string(least) + " to " + std::to_string(most)) +
               " expected");
}

uint32_t InstDecoder::slotOf(File file, uint32_t reg) const {
  if (file == File::Scalar)
    return ScalarBit | uint32_t(offsetof(Wave, scalar) + reg * 4);
  uint32_t number = file == File::Accumulator ? program.vectorCount + reg : reg;
  return program.vectorBase + number * program.waveLanes * 4;
}

uint32_t InstDecoder::constant(uint64_t value) {
  // Eight bytes each, eight to a chunk.
  auto place = [&](uint32_t i) { return &code.consts[i / 8].bytes[i % 8 * 8]; };
  uint32_t i = 0;
  for (; i < program.constantCount; ++i)
    if (!std::memcmp(place(i), &value, 8))
      break;
  if (i == program.constantCount) {
    code.consts.resize(++program.constantCount / 8 + 1);
    std::memcpy(place(i), &value, 8);
  }
  return ConstBit | ScalarBit | i * 8;
}

void InstDecoder::use(uint32_t reg, unsigned words, bool written, Need need) {
  for (unsigned i = 0; i < words; ++i)
    if (reg + i != Null && reg + i < FirstVector + program.vectorCount +
                                         program.accumulatorCount) {
      code.registers.push_back(
          {reg + i, written, need != Plain, 0, need == Address});
      ++inst.regCount;
    }
}
void InstDecoder::readScalar(uint32_t reg, unsigned words, Need need) {
  use(reg, words, false, need);
}
void InstDecoder::writeScalar(uint32_t reg, unsigned words) {
  use(reg, words, true, Plain);
}
void InstDecoder::readMask(uint32_t reg) {
  uint32_t before = inst.regCount;
  readScalar(reg, program.maskWords());
  markMask(before);
}
void InstDecoder::writeMask(uint32_t reg) {
  uint32_t before = inst.regCount;
  writeScalar(reg, program.maskWords());
  markMask(before);
}
void InstDecoder::markMask(uint32_t before) {
  for (uint32_t i = before; i < inst.regCount; ++i)
    code.registers[inst.regs + i].half = uint8_t(i - before + 1);
}

static uint32_t numberOf(const WaveProgram &p, const Operand &o) {
  return o.file == File::Scalar   ? o.reg
         : o.file == File::Vector ? FirstVector + o.reg
                                  : FirstVector + p.vectorCount + o.reg;
}

bool InstDecoder::immediate(const Operand &o, Imm imm, uint64_t &bits) {
  if (o.kind == OK::Integer) {
    bits = uint64_t(o.imm);
    switch (imm) {
    case Imm::B16:
    case Imm::F16:
    case Imm::BF16:
      bits &= 0xffff;
      break;
    case Imm::PackedF16:
    case Imm::PackedBF16:
    case Imm::B32:
    case Imm::F32:
      bits &= 0xffffffff;
      break;
    case Imm::B64:
      break;
    case Imm::F64:
      // Small integers are themselves; a literal of 32 bits is the upper half.
      if ((o.imm < -16 || o.imm > 64) && !o.isWide && bits >> 32 == 0)
        bits = bits << 32;
      break;
    }
    return true;
  }
  switch (imm) {
  case Imm::B16:
  case Imm::F16:
  case Imm::PackedF16:
    bits = halfFromDouble(o.real);
    return true;
  case Imm::BF16:
  case Imm::PackedBF16:
    bits = bf16FromDouble(o.real);
    return true;
  case Imm::B32:
  case Imm::F32:
    bits = bitsOfFloat(float(o.real));
    return true;
  case Imm::B64:
  case Imm::F64:
    bits = bitsOfDouble(o.real);
    return true;
  }
  return false;
}

/// Half of how far a label is from what s_getpc gave, behind which the other
/// label stands: `(to-from)&4294967295` or `(to-from)>>32`, of branches that go
/// farther than s_branch can.
bool InstDecoder::labelDistance(std::string_view text, uint64_t &half) const {
  size_t minus = text.find('-'), end = text.find(')');
  if (!text.starts_with('(') || minus == text.npos || end == text.npos ||
      minus > end)
    return false;
  auto to = module.labels.find(std::string(text.substr(1, minus - 1))),
       from = module.labels.find(
           std::string(text.substr(minus + 1, end - minus - 1)));
  uint32_t index;
  if (to == module.labels.end() || from == module.labels.end() ||
      !codeIndex(to->second, index) || from->second == 0)
    return false;
  std::string_view before = module.body[from->second - 1].opcode;
  if (before != "s_getpc_b64" && before != "s_get_pc_i64")
    return false;
  uint64_t distance = codeAddress(index) - CodeBase;
  std::string_view part = text.substr(end + 1);
  half = part == ">>32" ? distance >> 32 : distance & 0xffffffff;
  return part == ">>32" || part == "&4294967295";
}

bool InstDecoder::sourceSlot(size_t i, unsigned words, Imm imm, uint32_t &slot,
                             Need need) {
  if (i >= operandCount())
    return error("has too few operands");
  const Operand &o = operand(i);
  if (o.kind == OK::Register) {
    // A register of 16 bits is the half of one; null has any width.
    if (o.count != words && !(o.file == File::Scalar && o.reg == Null))
      return error("operand " + std::to_string(i + 1) + " ('" + o.text +
                   "') has " + std::to_string(o.count) + " registers, " +
                   std::to_string(words) + " expected");
    if (o.file == File::Scalar && o.reg == Null) {
      slot = constant(0);
      return true;
    }
    slot = slotOf(o.file, o.reg);
    use(numberOf(program, o), words, false, need);
    return true;
  }
  if (o.kind == OK::Symbol) {
    // Where the windows of generic addresses are.
    uint64_t base = 0;
    std::string_view name = o.text;
    if (name.starts_with("src_shared_"))
      base = name == "src_shared_base" ? SharedWindow : ~uint64_t(0);
    else if (name.starts_with("src_private_"))
      base = name == "src_private_base" ? LocalWindow : ~uint64_t(0);
    else if (name == "src_vccz" || name == "vccz" || name == "src_execz" ||
             name == "execz")
      return error("reading " + o.text + " is not supported");
    else {
      auto it = module.values.find(o.text);
      auto g = globals.find(o.text);
      auto label = module.labels.find(o.text);
      uint32_t index;
      if (it != module.values.end())
        base = uint64_t(it->second);
      else if (g != globals.end() && o.suffix.starts_with("rel32@")) {
        // Added to what s_getpc gave, half by half.
        base = g->second.address - CodeBase;
        base =
            o.suffix.starts_with("rel32@hi") ? base >> 32 : base & 0xffffffff;
      } else if (label != module.labels.end() &&
                 o.suffix.starts_with("rel32@") &&
                 codeIndex(label->second, index)) {
        base = o.suffix.starts_with("rel32@hi") ? 0
                                                : codeAddress(index) - CodeBase;
      } else if (g != globals.end() && o.suffix.starts_with("rel64")) {
        base = g->second.address - CodeBase;
      } else if (label != module.labels.end() &&
                 o.suffix.starts_with("rel64") &&
                 codeIndex(label->second, index)) {
        base = codeAddress(index) - CodeBase;
      } else if (g != globals.end() && o.suffix.starts_with("abs32@")) {
        base = g->second.address;
        base =
            o.suffix.starts_with("abs32@hi") ? base >> 32 : base & 0xffffffff;
      } else
        return error("unknown symbol '" + o.text + "'");
    }
    slot = constant(base);
    return true;
  }
  if (o.kind == OK::Word) {
    uint64_t distance;
    if (!labelDistance(o.text, distance))
      return error("'" + o.text + "' is no source");
    slot = constant(distance);
    return true;
  }
  uint64_t bits;
  if (!immediate(o, imm, bits))
    return error("'" + o.text + "' is no immediate of this instruction");
  slot = constant(bits);
  return true;
}

bool InstDecoder::scalar(size_t i, unsigned words, Imm imm, unsigned op,
                         Need need) {
  if (i < operandCount() && operand(i).kind == OK::Register &&
      operand(i).file != File::Scalar)
    return error("'" + operand(i).text + "' is no scalar register");
  if (words > 2 && i < operandCount() &&
      (operand(i).kind != OK::Register || operand(i).reg == Null))
    return error("'" + operand(i).text + "' is not " + std::to_string(words) +
                 " scalar registers");
  return source(i, words, imm, op, need);
}

bool InstDecoder::maskSource(size_t i, unsigned op) {
  uint32_t before = inst.regCount;
  if (!scalar(i, program.maskWords(), Imm::B64, op))
    return false;
  markMask(before);
  return true;
}

bool InstDecoder::scalarResult(size_t i, unsigned words, unsigned op) {
  if (i >= operandCount())
    return error("has too few operands");
  const Operand &o = operand(i);
  if (!o.isRegister(File::Scalar) ||
      (o.count != words && (o.reg != Null || words > 2)))
    return error("'" + o.text + "' is not " + std::to_string(words) +
                 " scalar registers to write");
  if (o.reg == Null) {
    // Written, and never read.
    inst.op[op] = slotOf(File::Scalar, ScalarCount - 2);
    return true;
  }
  inst.op[op] = slotOf(File::Scalar, o.reg);
  use(o.reg, words, true, Plain);
  return true;
}

bool InstDecoder::maskResult(size_t i, unsigned op) {
  uint32_t before = inst.regCount;
  if (!scalarResult(i, program.maskWords(), op))
    return false;
  markMask(before);
  return true;
}

bool InstDecoder::vectorResult(size_t i, unsigned words, unsigned op) {
  if (i >= operandCount())
    return error("has too few operands");
  const Operand &o = operand(i);
  if (o.kind != OK::Register || o.file == File::Scalar || o.count != words)
    return error("'" + o.text + "' is not " + std::to_string(words) +
                 " vector registers to write");
  inst.op[op] = slotOf(o.file, o.reg);
  use(numberOf(program, o), words, true, Plain);
  return true;
}

bool InstDecoder::vectorSource(size_t i, unsigned words, unsigned op,
                               Need need) {
  if (i >= operandCount())
    return error("has too few operands");
  const Operand &o = operand(i);
  if (o.kind != OK::Register || o.file == File::Scalar)
    return error("'" + o.text + "' is no vector register");
  return source(i, words, Imm::B32, op, need);
}

//===-- Modifiers ---------------------------------------------------------===//

const Modifier *InstDecoder::modifier(std::string_view name) {
  for (size_t i = 0; i < in->modifiers.size(); ++i)
    if (in->modifiers[i].name == name) {
      understood[i] = true;
      return &in->modifiers[i];
    }
  return nullptr;
}
bool InstDecoder::has(std::string_view name) { return modifier(name); }
bool InstDecoder::value(std::string_view name, int64_t &out) {
  const Modifier *m = modifier(name);
  if (m && m->values.size() == 1)
    out = m->values[0];
  return m && m->values.size() == 1;
}

static uint8_t flagsOf(const Modifier *m, uint8_t otherwise) {
  if (!m)
    return otherwise;
  uint8_t bits = 0;
  for (size_t i = 0; i < m->values.size() && i < 8; ++i)
    bits |= uint8_t((m->values[i] & 1) << i);
  return bits;
}

bool InstDecoder::takeDpp() {
  using Move = Modifiers::Move;
  struct Kind {
    const char *name;
    Move move;
  };
  static const Kind kinds[] = {{"row_shl", Move::Shl},
                               {"row_shr", Move::Shr},
                               {"row_ror", Move::Ror},
                               {"wave_shl", Move::WaveShl},
                               {"wave_rol", Move::WaveRol},
                               {"wave_shr", Move::WaveShr},
                               {"wave_ror", Move::WaveRor},
                               {"row_mirror", Move::Mirror},
                               {"row_half_mirror", Move::HalfMirror},
                               {"row_share", Move::Share},
                               {"row_xmask", Move::Xmask},
                               {"row_newbcast", Move::NewBcast}};
  for (const Kind &k : kinds)
    if (const Modifier *m = modifier(k.name)) {
      mods.move = k.move;
      mods.amount = m->values.empty() ? 0 : uint8_t(m->values[0]);
    }
  if (const Modifier *m = modifier("row_bcast")) {
    if (m->values.size() != 1 || (m->values[0] != 15 && m->values[0] != 31))
      return error("row_bcast is 15 or 31");
    mods.move = m->values[0] == 15 ? Move::Bcast15 : Move::Bcast31;
  }
  if (const Modifier *m = modifier("quad_perm")) {
    if (m->values.size() != 4)
      return error("quad_perm has four lanes");
    mods.move = Move::Quad;
    for (unsigned i = 0; i < 4; ++i)
      mods.lanes |= uint32_t(m->values[i] & 3) << 2 * i;
  }
  if (const Modifier *m = modifier("dpp8")) {
    if (m->values.size() != 8)
      return error("dpp8 has eight lanes");
    mods.move = Move::Eight;
    for (unsigned i = 0; i < 8; ++i)
      mods.lanes |= uint32_t(m->values[i] & 7) << 3 * i;
  }
  if (mods.move == Move::None)
    return in->encoding != "dpp" ||
           error("says nothing about which lanes to read");
  int64_t n;
  if (value("row_mask", n))
    mods.rowMask = uint8_t(n);
  if (value("bank_mask", n))
    mods.bankMask = uint8_t(n);
  // Both spellings switch it on.
  mods.boundControl = has("bound_ctrl");
  if (value("fi", n))
    mods.fetchInactive = n != 0;
  return true;
}

bool InstDecoder::takeSdwa() {
  auto select = [&](const char *name, uint8_t &out) {
    const Modifier *m = modifier(name);
    if (!m)
      return true;
    static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
    for (uint8_t i = 0; i < 7; ++i)
      if (m->word == names[i]) {
        out = i;
        return true;
      }
    return error("unknown part '" + m->word + "' of a register");
  };
  if (const Modifier *m = modifier("dst_unused")) {
    mods.unused = m->word == "UNUSED_PAD"    ? 0
                  : m->word == "UNUSED_SEXT" ? 1
                                             : 2;
  }
  return select("dst_sel", mods.result) && select("src0_sel", mods.source[0]) &&
         select("src1_sel", mods.source[1]);
}

bool InstDecoder::takeModifiers(unsigned sources, size_t firstSource) {
  for (unsigned i = 0; i < sources && firstSource + i < operandCount(); ++i) {
    const Operand &o = operand(firstSource + i);
    mods.negate |= uint8_t(o.negated << i);
    mods.absolute |= uint8_t(o.absolute << i);
    mods.extend |= uint8_t(o.extended << i);
    if (o.half > 0)
      mods.opSel |= uint8_t(1 << i);
  }
  if (firstSource > 0 && operandCount() && operand(0).half > 0)
    mods.opSel |= 8;
  if (const Modifier *m = modifier("op_sel")) {
    // The last one is the result's.
    uint8_t bits = flagsOf(m, 0);
    if (m->values.size() == sources + 1 && sources < 3)
      bits =
          uint8_t((bits & ((1u << sources) - 1)) | (bits >> sources & 1) << 3);
    mods.opSel |= bits;
  }
  mods.opSelHigh = flagsOf(modifier("op_sel_hi"), 7);
  mods.negate |= flagsOf(modifier("neg_lo"), 0);
  mods.negateHigh = flagsOf(modifier("neg_hi"), 0);
  mods.clamp = has("clamp") && !saturates;
  int64_t n;
  if (value("mul", n))
    mods.outputScale = n == 2 ? 1 : 2;
  if (value("div", n))
    mods.outputScale = 3;
  // LLVM's disassembler leaves the suffix of comparisons out.
  if ((in->encoding == "dpp" || !in->modifiers.empty()) && !takeDpp())
    return false;
  if (in->encoding == "sdwa" && !takeSdwa())
    return false;
  bool any = mods.negate || mods.absolute || mods.extend || mods.opSel ||
             mods.clamp || mods.outputScale || mods.negateHigh ||
             (mods.opSelHigh & 7) != 7 || in->encoding == "sdwa" ||
             mods.move != Modifiers::Move::None;
  mods.hasWords = mods.opSel || in->encoding == "sdwa";
  if (!any)
    return true;
  if (mods.move != Modifiers::Move::None) {
    mods.findMoves(program.waveLanes);
    inst.mod[3] |= MovesLanes;
  }
  inst.mod[0] = 1;
  inst.ext = uint32_t(program.modifiers.size());
  program.modifiers.push_back(mods);
  return true;
}

bool InstDecoder::emit(ExecFn fn, Class cls) {
  for (size_t i = 0; i < understood.size(); ++i)
    if (!understood[i])
      return error("the modifier '" + in->modifiers[i].name +
                   "' is not supported");
  inst.fn = fn;
  inst.cls = cls;
  return true;
}
