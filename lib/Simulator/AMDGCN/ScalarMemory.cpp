//===-- ScalarMemory.cpp - SMEM: loads into scalar registers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Checkers/DisjointChecker.h"
#include "Origins.h"
#include "VectorMemory.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
/// Arguments come through memory, but count as little as those of PTX do.
bool isArgument(const Ctx &c, uint64_t address) {
  const auto &args = c.launch->args;
  return address - uint64_t(reinterpret_cast<uintptr_t>(args.data())) <
         args.size();
}

/// The words that were loaded come from the arguments that they are of.
void takeArguments(const Ctx &c, const Inst &inst, uint64_t address) {
  const Origins origins(*c.frame);
  uint32_t reg = registerOf(programOf(c), inst.op[0]);
  uint64_t first =
      address - uint64_t(reinterpret_cast<uintptr_t>(c.launch->args.data()));
  for (unsigned w = 0; w < inst.mod[0]; ++w)
    origins.ofScalar(reg + w) = c.launch->disjoint->originAt(first + 4 * w);
}

/// op: result, base, offset or NoSlot; mod[0]: words; mod[1]: bytes of fewer
/// than a word, whose sign mod[2] extends. A scaled offset counts what is
/// loaded.
template <bool Scaled> Step execLoad(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Km, /*unordered=*/true);
  uint64_t address = scalarOf<uint64_t>(c, inst.op[1]) + uint64_t(inst.imm);
  unsigned bytes = inst.mod[1] ? inst.mod[1] : inst.mod[0] * 4u;
  if (inst.op[2] != NoSlot)
    address +=
        uint64_t(scalarOf<uint32_t>(c, inst.op[2])) * (Scaled ? bytes : 1);
  address &= ~uint64_t(std::min(bytes, 4u) - 1);
  Translation t;
  t.address[0] = address;
  bool counting = c.counting;
  c.counting &= !isArgument(c, address);
  bool good = translate(c, inst, 1, Space::Global, bytes, Access::Load, t);
  c.counting = counting;
  if (!good)
    return Step::Error;
  if (inst.mod[1]) {
    uint32_t value = 0;
    std::memcpy(&value, t.host[0], bytes);
    if (inst.mod[2])
      value = bytes == 1 ? uint32_t(int8_t(value)) : uint32_t(int16_t(value));
    setScalar<uint32_t>(c, inst.op[0], value);
  } else {
    std::memcpy(c.dst<std::byte>(inst.op[0] & ~ScalarBit), t.host[0], bytes);
    if (c.launch->disjoint)
      takeArguments(c, inst, address);
  }
  orderWave(c);
  return Step::Next;
}

/// From a buffer of so many bytes: what is beyond reads 0.
Step execBufferLoad(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Km, /*unordered=*/true);
  uint64_t base = scalarOf<uint64_t>(c, inst.op[1]) & 0xffffffffffff;
  uint32_t size = scalarOf<uint32_t>(c, inst.op[1] + 8);
  uint64_t offset = uint64_t(inst.imm);
  if (inst.op[2] != NoSlot)
    offset += scalarOf<uint32_t>(c, inst.op[2]);
  offset &= ~uint64_t(3);
  for (unsigned w = 0; w < inst.mod[0]; ++w) {
    uint64_t at = offset + 4 * w;
    uint32_t value = 0;
    if (at + 4 <= size) {
      Translation t;
      t.address[0] = base + at;
      if (!translate(c, inst, 1, Space::Global, 4, Access::Load, t))
        return Step::Error;
      std::memcpy(&value, t.host[0], 4);
    }
    setScalar<uint32_t>(c, inst.op[0] + 4 * w, value);
  }
  orderWave(c);
  return Step::Next;
}

template <unsigned Words, bool Buffer> bool decodeLoad(InstDecoder &d) {
  d.inst.mod[0] = Words;
  d.inst.isUnaligned = true;
  if (!d.expect(3, 3) || !d.scalar(1, Buffer ? 4 : 2, Imm::B64, 1, Address))
    return false;
  for (const char *name : {"glc", "dlc", "slc", "scope", "th", "nv"})
    d.has(name);
  int64_t offset = 0;
  d.value("offset", offset);
  d.inst.imm = offset;
  const Operand &o = d.operand(2);
  if (o.kind == Operand::Kind::Integer)
    d.inst.imm += o.imm;
  else if (o.reg != Null && !d.scalar(2, 1, Imm::B32, 2, Address))
    return false;
  bool isScaled = d.has("scale_offset");
  if (isScaled && (Buffer || !d.target().gfx1250 || d.inst.op[2] == NoSlot))
    return d.error("scale_offset is not supported here");
  d.inst.mod[3] |= AnyValue;
  return d.scalarResult(0, Words, 0) && d.emit(Buffer     ? execBufferLoad
                                               : isScaled ? execLoad<true>
                                                          : execLoad<false>,
                                               Class::Load);
}

/// s_load_u8 and so on, of gfx12.
template <unsigned Bytes, bool Signed> bool decodeNarrowLoad(InstDecoder &d) {
  if (d.target().generation < 12)
    return d.error("is of gfx12 and later");
  d.inst.mod[1] = Bytes;
  d.inst.mod[2] = Signed;
  return decodeLoad<1, false>(d);
}

/// Clocks count instructions.
Step execTime(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Km, /*unordered=*/true);
  setScalar<uint64_t>(c, inst.op[0], ++c.cluster->clock);
  return Step::Next;
}
bool decodeTime(InstDecoder &d) {
  return d.expect(1, 1) && d.scalarResult(0, 2, 0) &&
         d.emit(execTime, Class::Load);
}
/// From gfx11 on, clocks are asked for by messages.
bool decodeMessage(InstDecoder &d) {
  if (!d.expect(2, 2))
    return false;
  const std::string &message = d.operand(1).text;
  if (message != "sendmsg(MSG_RTN_GET_REALTIME)")
    return d.error("'" + message + "' is not supported");
  return d.scalarResult(0, 2, 0) && d.emit(execTime, Class::Load);
}
} // namespace

void tile::sim::amdgcn::registerScalarMemory(OpcodeTable &t) {
  t.insert({{"s_load_dword", decodeLoad<1, false>},
            {"s_load_dwordx2", decodeLoad<2, false>},
            {"s_load_dwordx4", decodeLoad<4, false>},
            {"s_load_dwordx8", decodeLoad<8, false>},
            {"s_load_dwordx16", decodeLoad<16, false>},
            {"s_load_b32", decodeLoad<1, false>},
            {"s_load_b64", decodeLoad<2, false>},
            {"s_load_u8", decodeNarrowLoad<1, false>},
            {"s_load_i8", decodeNarrowLoad<1, true>},
            {"s_load_u16", decodeNarrowLoad<2, false>},
            {"s_load_i16", decodeNarrowLoad<2, true>},
            {"s_load_b96", decodeLoad<3, false>},
            {"s_load_b128", decodeLoad<4, false>},
            {"s_load_b256", decodeLoad<8, false>},
            {"s_load_b512", decodeLoad<16, false>},
            {"s_buffer_load_dword", decodeLoad<1, true>},
            {"s_buffer_load_dwordx2", decodeLoad<2, true>},
            {"s_buffer_load_dwordx4", decodeLoad<4, true>},
            {"s_buffer_load_dwordx8", decodeLoad<8, true>},
            {"s_buffer_load_b32", decodeLoad<1, true>},
            {"s_buffer_load_b64", decodeLoad<2, true>},
            {"s_buffer_load_b128", decodeLoad<4, true>},
            {"s_memtime", decodeTime},
            {"s_memrealtime", decodeTime},
            {"s_sendmsg_rtn_b64", decodeMessage}});
}
