//===-- Matrix.cpp - ldmatrix, stmatrix, movmatrix ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Memory.h"
#include "MatrixTypes.h"

#include <cstring>

using namespace tile::sim;

Step tile::sim::needWarp(Ctx &c, const Inst &inst, uint32_t mask) {
  bool retry;
  if (mask == FullMask)
    return Step::Next;
  if (c.warp->exited)
    return c.fail(inst, firstLane(mask), "missing-lanes",
                  "a matrix instruction needs all 32 lanes; some have exited");
  if (!c.gather(FullMask, retry))
    return retry ? Step::Jump : Step::Block;
  return c.fail(
      inst, firstLane(mask), "missing-lanes",
      "a matrix instruction needs all 32 lanes; the guard is false for some");
}

namespace {
/// Rows of 16 bytes: lanes 8 j to 8 j + 7 hold the addresses of matrix j.
/// mod[0]: matrices; mod[1]: transposed.
Step execLoadMatrix(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  unsigned count = inst.mod[0];
  uint32_t rows = count == 4 ? FullMask : (1u << (8 * count)) - 1;
  if (!translate(c, inst, rows, inst.space, 16, Access::Load, t))
    return Step::Error;
  const uint32_t *slots = &c.code->ext[inst.ext];
  for (unsigned j = 0; j < count; ++j) {
    uint16_t m[8][8];
    for (unsigned r = 0; r < 8; ++r)
      std::memcpy(m[r], t.host[8 * j + r], 16);
    uint32_t *out = c.dst<uint32_t>(slots[j]);
    for (unsigned l = 0; l < Lanes; ++l) {
      unsigned g = l / 4, p = 2 * (l % 4);
      out[l] = inst.mod[1] ? uint32_t(m[p + 1][g]) << 16 | m[p][g]
                           : uint32_t(m[g][p + 1]) << 16 | m[g][p];
    }
  }
  return Step::Next;
}

Step execStoreMatrix(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  unsigned count = inst.mod[0];
  uint32_t rows = count == 4 ? FullMask : (1u << (8 * count)) - 1;
  uint16_t m[4][8][8];
  const uint32_t *slots = &c.code->ext[inst.ext];
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *in = c.src<uint32_t>(slots[j]);
    for (unsigned l = 0; l < Lanes; ++l) {
      unsigned g = l / 4, p = 2 * (l % 4);
      (inst.mod[1] ? m[j][p][g] : m[j][g][p]) = uint16_t(in[l]);
      (inst.mod[1] ? m[j][p + 1][g] : m[j][g][p + 1]) = uint16_t(in[l] >> 16);
    }
  }
  std::byte data[Lanes * 32];
  if (c.checker) {
    for (unsigned row = 0; row < 8 * count; ++row)
      std::memcpy(data + row * 32, m[row / 8][row % 8], 16);
    c.storeData = data;
  }
  bool good = translate(c, inst, rows, inst.space, 16, Access::Store, t);
  c.storeData = nullptr;
  if (!good)
    return Step::Error;
  for (unsigned row = 0; row < 8 * count; ++row)
    std::memcpy(t.host[row], m[row / 8][row % 8], 16);
  return Step::Next;
}

Step execMoveMatrix(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  uint16_t m[8][8];
  const uint32_t *in = c.src<uint32_t>(inst.op[1]);
  uint32_t *out = c.dst<uint32_t>(inst.op[0]);
  for (unsigned l = 0; l < Lanes; ++l) {
    m[l / 4][2 * (l % 4)] = uint16_t(in[l]);
    m[l / 4][2 * (l % 4) + 1] = uint16_t(in[l] >> 16);
  }
  for (unsigned l = 0; l < Lanes; ++l)
    out[l] = uint32_t(m[2 * (l % 4) + 1][l / 4]) << 16 | m[2 * (l % 4)][l / 4];
  return Step::Next;
}

bool decodeRows(FunctionDecoder &d, bool store) {
  d.has("sync");
  d.has("aligned");
  bool square = d.has("m8n8");
  int num = d.hasOneOf({"x1", "x2", "x4"});
  d.inst.mod[1] = d.has("trans");
  d.hasOneOf({"shared", "shared::cta"});
  Type type = d.takeType();
  if (!square || type != Type::B16)
    return d.error("only .m8n8 with .b16 is supported by the simulator");
  if (num < 0)
    return d.error("needs .x1, .x2 or .x4");
  unsigned count = 1u << num;
  d.inst.mod[0] = uint8_t(count);
  if (!d.expectOperands(2, 2))
    return false;
  Space space = Space::Shared;
  if (!d.address(d.operand(store ? 0 : 1), 1, space))
    return false;
  d.inst.space = Space::Shared;
  const ast::Operand &list = d.operand(store ? 1 : 0);
  auto elements = d.elements(list);
  if (elements.size() != count)
    return d.errorAt(list, "expected " + std::to_string(count) + " registers");
  std::vector<uint32_t> slots;
  for (const ast::Operand *e : elements)
    if (store ? !d.src(*e, Type::B32, slots.emplace_back())
              : !d.dst(*e, Type::B32, slots.emplace_back()))
      return false;
  d.setExt(slots);
  return d.emit(store ? execStoreMatrix : execLoadMatrix,
                store ? Class::Store : Class::Load);
}
bool decodeLoadMatrix(FunctionDecoder &d) { return decodeRows(d, false); }
bool decodeStoreMatrix(FunctionDecoder &d) { return decodeRows(d, true); }
bool decodeMoveMatrix(FunctionDecoder &d) {
  d.has("sync");
  d.has("aligned");
  if (!d.has("m8n8") || !d.has("trans") || d.takeType() != Type::B16)
    return d.error("needs .m8n8.trans.b16");
  return uniformOperands(d, Type::B32, 1) &&
         d.emit(execMoveMatrix, Class::Collective);
}
} // namespace

void tile::sim::registerMatrix(DecodeTable &t) {
  t.insert({{"ldmatrix", decodeLoadMatrix},
            {"stmatrix", decodeStoreMatrix},
            {"movmatrix", decodeMoveMatrix}});
}
