//===-- Matrix.cpp - ldmatrix, stmatrix, movmatrix ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Memory.h"
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
/// Rows of 16 bytes, whose addresses lanes hold, one matrix after the other.
/// What a lane holds of a matrix, byte by byte.
enum Shape : uint8_t {
  Halves,       ///< m8n8: two halves of a row
  HalvesAcross, ///< m8n8.trans: of a column
  Row,          ///< m8n16: four bytes of a row
  Columns,      ///< m16n8.trans, m16n16.trans: of two columns, 8 apart
};
enum Padding : uint8_t { Plain, Six, Four };

/// Rows of a matrix.
unsigned rowsOf(const Inst &inst) {
  return inst.mod[1] == Columns && inst.mod[3] ? 16 : 8;
}
/// Where byte `i` of a lane's register is. mod[0]: matrices; mod[1]: Shape;
/// mod[2]: Padding; mod[3]: registers of a matrix, less one.
struct Byte {
  unsigned row, column;
};
Byte placeOf(const Inst &inst, unsigned lane, unsigned reg, unsigned i) {
  unsigned g = lane / 4, q = lane % 4;
  switch (Shape(inst.mod[1])) {
  case Halves:
  case Row:
    return {g, 4 * q + i};
  case HalvesAcross:
    return {2 * q + i / 2, 2 * g + i % 2};
  case Columns:
    return {(rowsOf(inst) / 4) * q + 2 * reg + i % 2, g + 8 * (i / 2)};
  }
  return {0, 0};
}

uint32_t lanesWithRows(const Inst &inst) {
  unsigned rows = inst.mod[0] * rowsOf(inst);
  return rows == Lanes ? FullMask : (1u << rows) - 1;
}

/// Translates rows of 16 bytes, of which padding is not accessed.
bool translateRows(Ctx &c, const Inst &inst, Access access, Translation &t) {
  uint32_t lanes = lanesWithRows(inst);
  auto part = [&](unsigned bytes, Translation &to) {
    return translate(c, inst, lanes, inst.space, bytes, access, to);
  };
  if (inst.mod[2] == Plain)
    return part(16, t);
  for (uint32_t m = lanes; m; m &= m - 1)
    if (unsigned l = firstLane(m); t.address[l] & 15) {
      c.fail(inst, l, "misaligned", "a row of a matrix is aligned to 16 bytes");
      return false;
    }
  Translation rest = t;
  if (!part(8, t))
    return false;
  for (uint64_t &address : rest.address)
    address += 8;
  return inst.mod[2] == Four || part(4, rest);
}

Step execLoadMatrix(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  if (!translateRows(c, inst, Access::Load, t))
    return Step::Error;
  unsigned rows = rowsOf(inst), registers = inst.mod[3] + 1u;
  const uint32_t *slots = &c.code->ext[inst.ext];
  for (unsigned j = 0; j < inst.mod[0]; ++j) {
    uint8_t m[16][16];
    for (unsigned r = 0; r < rows; ++r) {
      const std::byte *from = t.host[rows * j + r];
      if (inst.mod[2] == Plain)
        std::memcpy(m[r], from, 16);
      else
        for (unsigned i = 0; i < 16; ++i)
          m[r][i] = packedElement(from, inst.mod[2] == Four ? 4 : 6, i);
    }
    for (unsigned reg = 0; reg < registers; ++reg) {
      uint32_t *out = c.dst<uint32_t>(slots[registers * j + reg]);
      for (unsigned l = 0; l < Lanes; ++l) {
        out[l] = 0;
        for (unsigned i = 0; i < 4; ++i) {
          auto [row, column] = placeOf(inst, l, reg, i);
          out[l] |= uint32_t(m[row][column]) << (8 * i);
        }
      }
    }
  }
  return Step::Next;
}

Step execStoreMatrix(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  uint8_t m[4][8][16];
  const uint32_t *slots = &c.code->ext[inst.ext];
  for (unsigned j = 0; j < inst.mod[0]; ++j) {
    const uint32_t *in = c.src<uint32_t>(slots[j]);
    for (unsigned l = 0; l < Lanes; ++l)
      for (unsigned i = 0; i < 4; ++i) {
        auto [row, column] = placeOf(inst, l, 0, i);
        m[j][row][column] = uint8_t(in[l] >> (8 * i));
      }
  }
  unsigned rows = 8u * inst.mod[0];
  std::byte data[Lanes * 32];
  if (c.checker) {
    for (unsigned row = 0; row < rows; ++row)
      std::memcpy(data + row * 32, m[row / 8][row % 8], 16);
    c.storeData = data;
  }
  bool good = translateRows(c, inst, Access::Store, t);
  c.storeData = nullptr;
  if (!good)
    return Step::Error;
  for (unsigned row = 0; row < rows; ++row)
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

/// The shape, which the type of elements goes with.
bool takeShape(FunctionDecoder &d, bool store) {
  int shape = d.hasOneOf({"m8n8", "m8n16", "m16n16", "m16n8"});
  bool trans = d.has("trans"), unpacks = d.has("b8x16");
  if (unpacks) {
    int padding = d.hasOneOf({"b6x16_p32", "b4x16_p64"});
    if (padding < 0)
      return d.error("needs .b6x16_p32 or .b4x16_p64");
    d.inst.mod[2] = uint8_t(Six + padding);
  }
  Type type = unpacks ? Type::B8 : d.takeType();
  switch (shape) {
  case 0:
    d.inst.mod[1] = trans ? HalvesAcross : Halves;
    return type == Type::B16 || d.error("needs .b16");
  case 1:
    d.inst.mod[1] = Row;
    return (!store && unpacks && !trans) ||
           d.error(".m8n16 is for loads of .b8x16, without .trans");
  case 2:
    d.inst.mod[1] = Columns;
    d.inst.mod[3] = 1;
    return (!store && type == Type::B8 && trans) ||
           d.error(".m16n16 is for loads of .b8 or .b8x16, with .trans");
  case 3:
    d.inst.mod[1] = Columns;
    return (store && type == Type::B8 && !unpacks && trans) ||
           d.error(".m16n8 is for stores of .b8, with .trans");
  default:
    return d.error("needs .m8n8, .m8n16, .m16n16 or .m16n8");
  }
}

bool decodeRows(FunctionDecoder &d, bool store) {
  d.has("sync");
  d.has("aligned");
  int num = d.hasOneOf({"x1", "x2", "x4"});
  d.hasOneOf({"shared", "shared::cta"});
  if (!takeShape(d, store))
    return false;
  if (num < 0 || (num == 2 && rowsOf(d.inst) == 16))
    return d.error(num < 0 ? "needs .x1, .x2 or .x4" : "needs .x1 or .x2");
  d.inst.mod[0] = uint8_t(1u << num);
  if (!d.expectOperands(2, 2))
    return false;
  Space space = Space::Shared;
  if (!d.address(d.operand(store ? 0 : 1), 1, space))
    return false;
  d.inst.space = Space::Shared;
  std::vector<uint32_t> slots;
  if (!takeMatrixRegisters(d, d.operand(store ? 1 : 0),
                           d.inst.mod[0] * (d.inst.mod[3] + 1u), Type::B32,
                           !store, slots))
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
