//===-- DecodeOperand.cpp - Operands to register and constant slots -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../ClusterAddress.h"
#include "../Machine.h"
#include "../Numeric.h"
#include "Decoder.h"

#include <algorithm>

using namespace tile::sim;
using OK = ast::Operand::Kind;

const ast::Operand &FunctionDecoder::first(size_t index) const {
  const ast::Operand &o = operand(index);
  return o.kind == OK::Pair ? o.elems[0] : o;
}

const ast::Operand *FunctionDecoder::second(size_t index) const {
  const ast::Operand &o = operand(index);
  return o.kind == OK::Pair ? &o.elems[1] : nullptr;
}

std::vector<const ast::Operand *>
FunctionDecoder::elements(const ast::Operand &operand) const {
  std::vector<const ast::Operand *> out;
  if (operand.kind != OK::Vector) {
    out.push_back(&operand);
    return out;
  }
  for (const ast::Operand &e : operand.elems)
    out.push_back(&e);
  return out;
}

Type FunctionDecoder::registerType(const ast::Operand &operand) const {
  if (operand.kind != OK::Name || operand.symbol < 0)
    return Type::None;
  const ast::Variable &v = function.symbols[operand.symbol];
  return v.space == Space::Reg ? v.type : Type::None;
}

/// What ptxas compares beside the width. Bits go with everything.
static unsigned kindOf(Type type) {
  enum { Bits, Integers, Floats, Halves };
  return isInteger(type)                               ? Integers
         : type == Type::F16x2 || type == Type::BF16x2 ? Halves
         : isFloat(type) && type != Type::TF32         ? Floats
                                                       : Bits;
}

bool FunctionDecoder::checkRegister(const ast::Operand &operand, Type have,
                                    Type want) const {
  bool wider = in->opcode == "ld" || in->opcode == "ldu" ||
               in->opcode == "st" || in->opcode == "cvt";
  unsigned bits = bitsOf(have), needed = bitsOf(want);
  bool pred = have == Type::Pred;
  unsigned a = kindOf(have), b = kindOf(want);
  if (pred == (want == Type::Pred) &&
      (bits == needed || (wider && bits > needed)) &&
      (!a || !b || a == b || pred))
    return true;
  return errorAt(operand, "'" + operand.name + "' has type ." +
                              std::string(nameOf(have)) + ", expected ." +
                              std::string(nameOf(want)));
}

uint32_t FunctionDecoder::constant(SlotClass cls, uint64_t bits) {
  auto [it, inserted] = constants.try_emplace({uint8_t(cls), bits}, 0);
  if (!inserted)
    return it->second;
  size_t chunks = cls == SlotClass::Quad     ? 8
                  : cls == SlotClass::Double ? 4
                  : cls == SlotClass::Word   ? 2
                                             : 1;
  size_t at = code.consts.size();
  code.consts.resize(at + chunks);
  std::byte *data = code.consts[at].bytes;
  if (cls == SlotClass::Pred || cls == SlotClass::Word)
    std::fill_n(reinterpret_cast<uint32_t *>(data),
                cls == SlotClass::Pred ? 1 : Lanes, uint32_t(bits));
  else
    std::fill_n(reinterpret_cast<uint64_t *>(data), Lanes, bits);
  it->second = ConstBit | uint32_t(at * sizeof(Chunk));
  return it->second;
}

/// Literals take the instruction's type: 0f3F800000 in an .f64 instruction is
/// one, in a .b32 one its bits.
bool FunctionDecoder::literal(const ast::Operand &operand, Type type,
                              uint32_t &slot) {
  SlotClass cls = classOf(type);
  uint64_t bits = uint64_t(operand.imm);
  if (operand.kind == OK::Int ? type == Type::F32 || type == Type::F64
                              : isInteger(type))
    return errorAt(operand,
                   std::string("expected ") +
                       (operand.kind == OK::Int ? "a floating-point number"
                                                : "an integer") +
                       " for type ." + std::string(nameOf(type)));
  if (operand.kind == OK::F32 && type == Type::F64)
    bits = bitsOfDouble(double(floatOfBits(uint32_t(operand.imm))));
  else if (operand.kind == OK::F64 && bitsOf(type) == 32)
    bits = bitsOfFloat(float(doubleOfBits(uint64_t(operand.imm))));
  else if (operand.kind == OK::F64 && type == Type::F16)
    bits = halfFromDouble(doubleOfBits(uint64_t(operand.imm)));
  else if (operand.kind == OK::F64 && type == Type::BF16)
    bits = bf16FromDouble(doubleOfBits(uint64_t(operand.imm)));
  if (cls == SlotClass::Pred)
    bits = bits ? FullMask : 0;
  else if (bitsOf(type) < 64)
    bits &= (uint64_t(1) << bitsOf(type)) - 1;
  slot = constant(cls, bits);
  return true;
}

ExecFn tile::sim::classConversion(SlotClass from, SlotClass to) {
  switch (to) {
  case SlotClass::Double:
    return from == SlotClass::Quad ? execQuadToDouble : execWiden;
  case SlotClass::Quad:
    return from == SlotClass::Double ? execDoubleToQuad : execWordToQuad;
  default:
    // A truncated quad is its first word, as is a truncated double.
    return execTruncate;
  }
}

uint32_t FunctionDecoder::convertClass(uint32_t slot, SlotClass from,
                                       SlotClass to) {
  uint32_t made = temp(to);
  emitMicro(classConversion(from, to), {made, slot});
  return made;
}

bool FunctionDecoder::specialRegister(const std::string &name, uint32_t &slot,
                                      SlotClass &cls) {
  static const std::unordered_map<std::string, Special> names = [] {
    std::unordered_map<std::string, Special> map;
    auto axes = [&](const char *base, Special x) {
      const char *suffix[] = {".x", ".y", ".z"};
      for (unsigned i = 0; i < 3; ++i)
        map[std::string(base) + suffix[i]] = Special(unsigned(x) + i);
    };
    axes("%tid", Special::TidX);
    axes("%ntid", Special::NTidX);
    axes("%ctaid", Special::CtaX);
    axes("%nctaid", Special::NCtaX);
    axes("%clusterid", Special::ClusterX);
    axes("%nclusterid", Special::NClusterX);
    axes("%cluster_ctaid", Special::ClusterCtaX);
    axes("%cluster_nctaid", Special::ClusterNCtaX);
    map.insert({{"%laneid", Special::LaneId},
                {"%warpid", Special::WarpId},
                {"%nwarpid", Special::NWarpId},
                {"%smid", Special::SmId},
                {"%nsmid", Special::NSmId},
                {"%gridid", Special::GridId},
                {"%lanemask_eq", Special::MaskEq},
                {"%lanemask_le", Special::MaskLe},
                {"%lanemask_lt", Special::MaskLt},
                {"%lanemask_ge", Special::MaskGe},
                {"%lanemask_gt", Special::MaskGt},
                {"%cluster_ctarank", Special::ClusterRank},
                {"%cluster_nctarank", Special::ClusterNRank},
                {"%dynamic_smem_size", Special::DynamicShared},
                {"%total_smem_size", Special::TotalShared},
                {"%aggr_smem_size", Special::AggregateShared},
                {"%reserved_smem_offset_begin", Special::ReservedShared},
                {"%clock", Special::Clock},
                {"%clock64", Special::Clock64},
                {"%clock_hi", Special::ClockHi},
                {"%globaltimer", Special::GlobalTimer},
                {"%globaltimer_lo", Special::GlobalTimerLo},
                {"%globaltimer_hi", Special::GlobalTimerHi},
                {"%reserved_smem_offset_end", Special::ReservedShared},
                {"%reserved_smem_offset_cap", Special::ReservedShared},
                {"%reserved_smem_offset_0", Special::ReservedShared},
                {"%reserved_smem_offset_1", Special::ReservedShared},
                {"%current_graph_exec", Special::Zero}});
    for (unsigned i = 0; i < 32; ++i)
      map["%envreg" + std::to_string(i)] = i == 1   ? Special::WorkspaceHigh
                                           : i == 2 ? Special::WorkspaceLow
                                                    : Special::Zero;
    for (unsigned i = 0; i < 8; ++i)
      map["%pm" + std::to_string(i)] = Special::Zero;
    return map;
  }();
  if (name == "WARP_SZ") {
    cls = SlotClass::Word;
    slot = constant32(Lanes);
    return true;
  }
  if (name == "%is_explicit_cluster") {
    cls = SlotClass::Pred;
    uint32_t word = 0;
    SlotClass ignored;
    auto [it, fresh] = specials.try_emplace(Special::IsExplicitCluster, 0);
    if (fresh) {
      it->second = allocate(SlotClass::Word);
      code.specials.push_back({it->second, Special::IsExplicitCluster});
    }
    word = it->second;
    (void)ignored;
    slot = word; // lane 0's value fills the predicate below
    uint32_t made = temp(SlotClass::Pred);
    emitMicro(execWordToPred, {made, word});
    slot = made;
    return true;
  }
  auto it = names.find(name);
  if (it == names.end())
    return false;
  if (it->second >= Special::Clock) {
    bool wide =
        it->second == Special::Clock64 || it->second == Special::GlobalTimer;
    cls = wide ? SlotClass::Double : SlotClass::Word;
    slot = temp(cls);
    emitMicro(execReadClock, {slot}, int64_t(it->second));
    return true;
  }
  cls = SlotClass::Word;
  builder.program->usesWorkspace |= it->second == Special::WorkspaceLow;
  auto [at, fresh] = specials.try_emplace(it->second, 0);
  if (fresh) {
    at->second = allocate(SlotClass::Word);
    code.specials.push_back({at->second, it->second});
  }
  slot = at->second;
  return true;
}

/// op[0]: the address; imm: the offset; mod[0]: of 64 bits.
static Step execSharedAddress(Ctx &c, const Inst &inst, uint32_t) {
  auto offset = uint32_t(inst.imm);
  uint32_t address =
      c.launch->clusterSize > 1 ? clusterAddress(offset, c.cta->rank) : offset;
  if (inst.mod[0])
    std::fill_n(c.dst<uint64_t>(inst.op[0]), Lanes, address);
  else
    std::fill_n(c.dst<uint32_t>(inst.op[0]), Lanes, address);
  return Step::Next;
}

/// The address of a shared variable. In a cluster on a target with pairs of
/// CTAs it names the CTA.
static uint32_t sharedAddress(FunctionDecoder &d, uint64_t offset, Type type) {
  SlotClass want = classOf(type);
  std::string_view target = d.builder.module.target;
  bool hasPairs = target.size() == 7 && (target.substr(0, 5) == "sm_10" ||
                                         target.substr(0, 5) == "sm_11");
  if (!hasPairs || (want != SlotClass::Word && want != SlotClass::Double))
    return d.constant(want, offset);
  uint32_t made = d.temp(want);
  d.emitMicro(execSharedAddress, {made}, int64_t(offset));
  d.code.insts.back().mod[0] = want == SlotClass::Double;
  return made;
}

bool FunctionDecoder::symbolSource(const ast::Operand &operand, Type type,
                                   uint32_t &slot) {
  const ast::Variable &v = function.symbols[operand.symbol];
  SlotClass want = classOf(type);
  if (v.space != Space::Reg) {
    // The address of a variable of this function.
    if (v.space == Space::Shared) {
      slot = sharedAddress(
          *this, uint64_t(symbolSlots[operand.symbol]) + uint64_t(operand.imm),
          type);
      return true;
    }
    bool isKernelParam =
        function.isEntry && v.space == Space::Param &&
        std::find(function.params.begin(), function.params.end(),
                  operand.symbol) != function.params.end();
    if (isKernelParam) {
      slot = constant(want, uint64_t(symbolSlots[operand.symbol]) +
                                uint64_t(operand.imm));
      return true;
    }
    slot = temp(want);
    emitMicro(execLocalAddress, {slot},
              int64_t(symbolSlots[operand.symbol] + uint64_t(operand.imm)));
    code.insts.back().mod[0] = want == SlotClass::Double;
    return true;
  }
  SlotClass have = classOf(v.type);
  slot = symbolSlots[operand.symbol];
  if (operand.component >= 0) {
    if (unsigned(operand.component) >= v.vector)
      return errorAt(operand, "'" + operand.name + "' has no such component");
    static const uint32_t sizes[] = {64, 128, 256, 512};
    slot += uint32_t(operand.component) * sizes[size_t(have)];
  }
  uses.push_back({slot, false});
  if (!checkRegister(operand, v.type, type))
    return false;
  if (have != want)
    slot = convertClass(slot, have, want);
  if (operand.negated) {
    if (want != SlotClass::Pred)
      return errorAt(operand, "only predicates can be negated");
    uint32_t made = temp(SlotClass::Pred);
    emitMicro(execNotPred, {made, slot});
    slot = made;
  }
  return true;
}

bool FunctionDecoder::namedSource(const ast::Operand &operand, Type type,
                                  uint32_t &slot) {
  SlotClass want = classOf(type), have = want;
  if (specialRegister(operand.name, slot, have)) {
    if ((have == SlotClass::Pred) != (want == SlotClass::Pred))
      return errorAt(operand, "'" + operand.name + "' does not fit");
    if (have != want)
      slot = convertClass(slot, have, want);
    return true;
  }
  if (want != SlotClass::Double && want != SlotClass::Word)
    return errorAt(operand, "'" + operand.name + "' does not fit");
  for (const ast::Variable &v : builder.module.variables) {
    if (v.name != operand.name)
      continue;
    if (v.space == Space::Shared) {
      uint32_t offset = builder.sharedOffset(v, &v);
      if (offset == UINT32_MAX)
        return errorAt(operand,
                       "'" + v.name + "' does not fit into shared memory");
      slot =
          sharedAddress(*this, uint64_t(offset) + uint64_t(operand.imm), type);
      return true;
    }
    auto it = builder.globals.find(operand.name);
    if (it == builder.globals.end())
      return errorAt(operand, "the extern variable '" + operand.name +
                                  "' has no definition");
    slot = constant(want, it->second.address + uint64_t(operand.imm));
    return true;
  }
  if (const ast::Function *callee = builder.findFunction(operand.name)) {
    if (!builder.codeFor(operand.name))
      return errorAt(operand, "function '" + operand.name + "' has no body");
    slot = constant(want, builder.functionAddress(*callee));
    return true;
  }
  return errorAt(operand, "unknown name '" + operand.name + "'");
}

bool FunctionDecoder::src(const ast::Operand &operand, Type type,
                          uint32_t &slot) {
  switch (operand.kind) {
  case OK::Int:
  case OK::F32:
  case OK::F64:
    return literal(operand, type, slot);
  case OK::Name:
    return operand.symbol >= 0 ? symbolSource(operand, type, slot)
                               : namedSource(operand, type, slot);
  case OK::Sink:
    slot = constant(classOf(type), 0);
    return true;
  case OK::Part:
    return errorAt(operand,
                   operand.negated
                       ? "expected a number after the sign"
                       : "this instruction takes no parts of registers");
  default:
    return errorAt(operand, "expected a register or a number");
  }
}

bool FunctionDecoder::dst(const ast::Operand &operand, Type type,
                          uint32_t &slot) {
  SlotClass want = classOf(type);
  if (isSink(operand)) {
    slot = temp(want);
    return true;
  }
  Type have = registerType(operand);
  if (have == Type::None)
    return errorAt(operand, "expected a register");
  SlotClass cls = classOf(have);
  if (operand.negated)
    return errorAt(operand, "a result cannot be negated");
  if (!checkRegister(operand, have, type))
    return false;
  slot = symbolSlots[operand.symbol];
  if (operand.component >= 0) {
    if (unsigned(operand.component) >= function.symbols[operand.symbol].vector)
      return errorAt(operand, "'" + operand.name + "' has no such component");
    static const uint32_t sizes[] = {64, 128, 256, 512};
    slot += uint32_t(operand.component) * sizes[size_t(cls)];
  }
  uses.push_back({slot, true});
  if (cls != want) {
    uint32_t made = temp(want);
    epilogues.push_back({made, slot, want, cls});
    slot = made;
  }
  return true;
}

bool FunctionDecoder::immediate(const ast::Operand &operand,
                                int64_t &value) const {
  if (operand.kind != OK::Int)
    return errorAt(operand, "expected a constant");
  value = operand.imm;
  return true;
}

bool FunctionDecoder::address(const ast::Operand &operand, unsigned to,
                              Space &space) {
  if (operand.kind != OK::Address)
    return errorAt(operand, "expected an address");
  const ast::Operand &base = operand.elems[0];
  inst.imm = operand.imm;
  inst.op[to] = NoSlot;
  if (base.kind == OK::Int) {
    inst.imm = int64_t(uint64_t(inst.imm) + uint64_t(base.imm));
    inst.op[to] = constant(SlotClass::Double, 0);
    return true;
  }
  if (base.kind == OK::Name && base.symbol >= 0) {
    const ast::Variable &v = function.symbols[base.symbol];
    if (v.space == Space::Local || v.space == Space::Param) {
      bool isKernelParam =
          function.isEntry && v.space == Space::Param &&
          std::find(function.params.begin(), function.params.end(),
                    base.symbol) != function.params.end();
      inst.imm = int64_t(uint64_t(inst.imm) + symbolSlots[base.symbol]);
      // Parameters of functions and of calls live in the caller's and callee's
      // local memory.
      space = isKernelParam ? Space::Param : Space::Local;
      if (isKernelParam)
        inst.op[to] = constant(SlotClass::Double, 0);
      return true;
    }
    if (v.space == Space::Shared && space == Space::Generic)
      space = Space::Shared;
  } else if (base.kind == OK::Name) {
    for (const ast::Variable &v : builder.module.variables)
      if (v.name == base.name && v.space == Space::Shared &&
          space == Space::Generic)
        space = Space::Shared;
  }
  Type type = registerType(base);
  if (type != Type::None &&
      (kindOf(type) > 1 || type == Type::Pred || bitsOf(type) < 32))
    return errorAt(base, "'" + base.name + "' has type ." +
                             std::string(nameOf(type)) +
                             ", which is no address");
  if (type != Type::None && classOf(type) == SlotClass::Word) {
    if (space == Space::Generic || space == Space::Global)
      return errorAt(base, "'" + base.name + "' has type ." +
                               std::string(nameOf(type)) +
                               ", and an address here has 64 bits");
    // 32-bit addresses (shared memory) are widened once.
    uint32_t narrow = 0;
    if (!src(base, Type::B32, narrow))
      return false;
    inst.op[to] = temp(SlotClass::Double);
    emitMicro(execWiden, {inst.op[to], narrow});
    return true;
  }
  return src(base, Type::B64, inst.op[to]);
}

uint32_t FunctionDecoder::carrySlot() {
  if (carry == NoSlot)
    carry = temp(SlotClass::Pred);
  return carry;
}
