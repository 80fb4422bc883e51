//===-- TensorMap.cpp - tensormap.replace, tensormap.cp_fenceproxy --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/TensorMap.h"
#include "../../Checkers/OrderChecker.h"
#include "../../Memory.h"
#include "Families.h"

#include <bit>
#include <cstring>

using namespace tile::sim;

namespace {
enum Field : uint8_t {
  Address,
  Rank,
  Box,
  Size,
  Stride,
  ElementStride,
  ElementKind,
  Interleave,
  Swizzle,
  Fill,
  Atomicity
};

/// Why a field cannot hold a value; empty if it can.
std::string whyBad(Field field, uint64_t value) {
  auto within = [&](const char *what, uint64_t low, uint64_t high) {
    return value >= low && value <= high
               ? ""
               : std::string("the tensor map's ") + what + " is " +
                     std::to_string(value) + "; allowed are " +
                     std::to_string(low) + " to " + std::to_string(high);
  };
  switch (field) {
  case Address:
  case Size: // 0 stands for 2^32
    return "";
  case Rank:
    return within("rank less one", 0, TensorMap::mostRank - 1);
  case Box:
    return within("box", 1, 256);
  case Stride:
    if (value & 15)
      return "the tensor map's stride " + std::to_string(value) +
             " is not a multiple of 16 bytes";
    return within("stride", 0, TensorMap::strideLimit - 1);
  case ElementStride:
    return within("element stride", 1, 8);
  case ElementKind:
    return value == TensorMap::padded4 ? "" : within("element type", 0, 12);
  case Interleave:
    return within("interleave layout", 0, 2);
  case Swizzle:
    return within("swizzle", 0, 3);
  case Fill:
    return within("fill mode", 0, 1);
  case Atomicity:
    return value ? "swizzles of other than 16 bytes are not supported by the "
                   "simulator"
                 : "";
  }
  return "";
}

/// op: address, value; mod[0]: Field; mod[1]: dimension.
Step execReplace(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation t;
  gatherAddresses(c, inst, inst.op[0], inst.imm, t.address);
  if (!translate(c, inst, mask, inst.space, 64, Access::Store, t))
    return Step::Error;
  bool wide = Field(inst.mod[0]) == Address || Field(inst.mod[0]) == Stride;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    TensorMap map = TensorMap::decode(t.host[l]);
    uint64_t v =
        wide ? c.src<uint64_t>(inst.op[1])[l] : c.src<uint32_t>(inst.op[1])[l];
    std::string why = whyBad(Field(inst.mod[0]), v);
    if (!why.empty())
      return c.fail(inst, l, "bad-tensor-map", std::move(why));
    unsigned i = inst.mod[1];
    switch (Field(inst.mod[0])) {
    case Address:
      map.address = v;
      break;
    case Rank:
      map.rankMinusOne = uint8_t(v);
      break;
    case Box:
      map.box[i] = uint32_t(v);
      break;
    case Size:
      map.size[i] = v;
      break;
    case Stride:
      map.stride[i] = v;
      break;
    case ElementStride:
      map.elementStride[i] = uint32_t(v);
      break;
    case ElementKind:
      map.elementType = uint8_t(v);
      break;
    case Interleave:
      map.interleave = uint8_t(v);
      break;
    case Swizzle:
      map.swizzle = uint8_t(v);
      break;
    case Fill:
      map.fillsNan = v != 0;
      break;
    case Atomicity:
      break;
    }
    map.encode(t.host[l]);
  }
  return Step::Next;
}

/// Copies the 128 bytes of a map from shared to global memory.
Step execFenceCopy(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation to, from;
  gatherAddresses(c, inst, inst.op[0], inst.imm, to.address);
  gatherAddresses(c, inst, inst.op[1], int64_t(int32_t(inst.target)),
                  from.address);
  unsigned l = firstLane(mask);
  Cta *owner;
  uint32_t offset;
  std::byte *source = sharedRange(c, inst, l, from.address[l], TensorMap::bytes,
                                  "load", owner, offset);
  std::byte *target = source ? globalRange(c, inst, l, to.address[l],
                                           TensorMap::bytes, true, "store")
                             : nullptr;
  if (!target)
    return Step::Error;
  if (c.checker)
    c.checker->mapWrite(c, inst, mask, *owner, offset, to.address[l]);
  std::memcpy(target, source, TensorMap::bytes);
  return Step::Next;
}

bool decodeTensormap(FunctionDecoder &d) {
  if (d.has("cp_fenceproxy")) {
    for (std::string_view known :
         {"global", "shared::cta", "tensormap::generic", "release", "gpu",
          "cta", "cluster", "sys", "sync", "aligned"})
      d.has(known);
    Space shared = Space::Shared, global = Space::Global;
    if (!d.expectOperands(3, 3) || !d.address(d.operand(1), 1, shared))
      return false;
    d.inst.target = uint32_t(d.inst.imm);
    return d.address(d.operand(0), 0, global) &&
           d.emit(execFenceCopy, Class::Async);
  }
  if (!d.has("replace"))
    return d.error("unknown operation of tensormap");
  d.has("tile");
  int field = d.hasOneOf({"global_address", "rank", "box_dim", "global_dim",
                          "global_stride", "element_stride", "elemtype",
                          "interleave_layout", "swizzle_mode", "fill_mode",
                          "swizzle_atomicity"});
  int space = d.hasOneOf({"global", "shared::cta", "shared"});
  d.has("b1024");
  Type type = d.takeType();
  if (field < 0)
    return d.error("needs a field");
  bool ordinal = field >= Box && field <= ElementStride,
       wide = field == Address || field == Stride;
  if (type != (wide ? Type::B64 : Type::B32))
    return d.badType(type);
  if (!d.expectOperands(ordinal ? 3 : 2, ordinal ? 3 : 2))
    return false;
  int64_t dim = 0;
  if (ordinal && !d.immediate(d.operand(1), dim))
    return false;
  if (dim < 0 || dim > (field == Stride ? 3 : 4))
    return d.errorAt(d.operand(1), "there is no such dimension");
  Space where = space < 0    ? Space::Generic
                : space == 0 ? Space::Global
                             : Space::Shared;
  if (!d.address(d.operand(0), 0, where) || !d.src(ordinal ? 2 : 1, type, 1))
    return false;
  d.inst.space = where;
  d.inst.mod[0] = uint8_t(field);
  d.inst.mod[1] = uint8_t(dim);
  return d.emit(execReplace, Class::Async);
}
} // namespace

void tile::sim::registerTensorMap(DecodeTable &t) {
  t.insert({{"tensormap", decodeTensormap}});
}
