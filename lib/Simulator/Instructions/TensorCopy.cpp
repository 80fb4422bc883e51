//===-- TensorCopy.cpp - cp.async.bulk.tensor, tensormap ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Checkers/OrderChecker.h"
#include "../Schedule.h"
#include "BulkCopy.h"
#include "tile/Simulator/TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

namespace {
enum Slots { Map, Memory, Barrier, Mask };

/// 16-byte chunks of a row are permuted by bits of the row's number: both taken
/// from the shared address.
uint32_t swizzled(uint32_t address, unsigned mode) {
  switch (mode) {
  case 1:
    return address ^ (address >> 3 & 0x10);
  case 2:
    return address ^ (address >> 3 & 0x30);
  case 3:
    return address ^ (address >> 3 & 0x70);
  default:
    return address;
  }
}

Type elementType(const TensorMap &map) {
  static constexpr Type types[] = {Type::U8,  Type::U16, Type::U32,  Type::S32,
                                   Type::U64, Type::S64, Type::F16,  Type::F32,
                                   Type::F32, Type::F64, Type::BF16, Type::F32,
                                   Type::F32};
  return types[map.elementType];
}

bool readMap(Ctx &c, const Inst &inst, unsigned l, uint64_t address,
             unsigned rank, TensorMap &map) {
  auto bad = [&](std::string text) {
    c.fail(inst, l, "bad-tensor-map", std::move(text));
    return false;
  };
  if (address & 63) {
    c.fail(inst, l, "misaligned", "a tensor map must be aligned to 64 bytes");
    return false;
  }
  uint64_t window = address >> WindowShift,
           plain = address & ((uint64_t(1) << WindowShift) - 1);
  const std::byte *host = nullptr;
  if (window == 3)
    host = plain + sizeof map <= c.launch->args.size()
               ? c.launch->args.data() + plain
               : nullptr;
  else if (window == 0)
    host =
        globalRange(c, inst, l, address, sizeof map, false, "tensor map read");
  if (!host)
    return window == 0 ? false
                       : bad("a tensor map must be in global or constant "
                             "memory or a kernel parameter");
  std::memcpy(&map, host, sizeof map);
  if (map.rankMinusOne > 4 || map.rank() != rank)
    return bad("the tensor map has rank " + std::to_string(map.rank()) +
               ", the instruction " + std::to_string(rank));
  if (map.elementBytes() == 0)
    return bad("the tensor map's element type " +
               std::to_string(map.elementType) + " is not supported");
  if (map.interleave)
    return bad("interleaved tensor maps are not supported by the simulator");
  for (unsigned i = 0; i < rank; ++i) {
    if (map.box[i] == 0 || map.box[i] > 256)
      return bad("the box has " + std::to_string(map.box[i]) +
                 " elements in dimension " + std::to_string(i) +
                 "; allowed are 1 to 256");
    if (map.elementStride[i] > 8)
      return bad("the element stride of dimension " + std::to_string(i) +
                 " is " + std::to_string(map.elementStride[i]) +
                 "; allowed are 1 to 8");
    map.elementStride[i] = std::max(map.elementStride[i], 1u);
    if (i > 0 && map.stride[i - 1] & 15)
      return bad("stride " + std::to_string(map.stride[i - 1]) +
                 " of dimension " + std::to_string(i) +
                 " is not a multiple of 16 bytes");
  }
  if (map.address & 15)
    return bad("the tensor's address is not a multiple of 16");
  uint64_t inner = uint64_t(map.box[0]) * map.elementBytes();
  if (inner & 15)
    return bad("the box's inner dimension has " + std::to_string(inner) +
               " bytes, which is not a multiple of 16");
  static constexpr unsigned spans[] = {0, 32, 64, 128};
  if (map.swizzle > 3 || (map.swizzle && inner > spans[map.swizzle]))
    return bad("the box's inner dimension has " + std::to_string(inner) +
               " bytes, more than the swizzle of " +
               std::to_string(spans[map.swizzle & 3]));
  return true;
}

/// Elements of the box along a dimension: every elementStride-th one is copied.
/// Along dimension 0 the stride has no effect.
uint32_t boxElements(const TensorMap &map, unsigned i) {
  return i == 0
             ? map.box[0]
             : (map.box[i] + map.elementStride[i] - 1) / map.elementStride[i];
}

/// Calls f(shared offset in the box, global address or 0 when outside, bytes)
/// for each run of elements.
template <class F>
bool eachRow(const TensorMap &map, const int32_t *start, F f) {
  unsigned rank = map.rank(), element = map.elementBytes();
  uint32_t index[5] = {};
  uint64_t rowBytes = uint64_t(map.box[0]) * element, shared = 0;
  while (true) {
    bool inside = true;
    uint64_t row = map.address;
    for (unsigned i = 1; i < rank; ++i) {
      int64_t at = int64_t(start[i]) + int64_t(index[i]) * map.elementStride[i];
      inside &= at >= 0 && at < int64_t(map.size[i]);
      row += uint64_t(at) * map.stride[i - 1];
    }
    for (uint32_t x = 0; x < map.box[0];) {
      int64_t at = int64_t(start[0]) + x;
      bool here = inside && at >= 0 && at < int64_t(map.size[0]);
      // Neighbours that are all inside or all outside form one run within a
      // chunk of 16 bytes.
      uint32_t run = 1;
      while (x + run < map.box[0] && ((shared + (x + run) * element) & 15) &&
             (inside && at + run >= 0 && at + run < int64_t(map.size[0])) ==
                 here)
        ++run;
      if (!f(uint32_t(shared + uint64_t(x) * element),
             here ? row + uint64_t(at) * element : 0, run * element))
        return false;
      x += run;
    }
    shared += rowBytes;
    unsigned i = 1;
    for (; i < rank && ++index[i] == boxElements(map, i); ++i)
      index[i] = 0;
    if (i >= rank)
      return true;
  }
}

uint64_t boxBytes(const TensorMap &map) {
  uint64_t bytes = map.elementBytes();
  for (unsigned i = 0; i < map.rank(); ++i)
    bytes *= boxElements(map, i);
  return bytes;
}

bool checkShared(Ctx &c, const Inst &inst, unsigned l, const TensorMap &map,
                 uint32_t offset) {
  // The pattern of a swizzle follows the address, so any 128-byte boundary
  // would do for the hardware; a smaller one is an error there, too.
  (void)map;
  if (offset & 127) {
    c.fail(inst, l, "misaligned",
           "the shared memory of a tensor copy must be aligned to 128 bytes");
    return false;
  }
  return true;
}

struct Operands {
  uint64_t map[Lanes], memory[Lanes], barrier[Lanes];
  int32_t start[5];
  Operands(Ctx &c, const Inst &inst) {
    gatherAddresses(c, inst, inst.op[Map], inst.imm, map);
    gatherAddresses(c, inst, inst.op[Memory], int64_t(int32_t(inst.target)),
                    memory);
    if (inst.op[Barrier] != NoSlot)
      gatherAddresses(c, inst, inst.op[Barrier],
                      int64_t(int32_t(c.code->ext[inst.ext])), barrier);
  }
  void coordinates(Ctx &c, const Inst &inst, unsigned l) {
    for (unsigned i = 0; i < 5; ++i)
      start[i] = i + 1 < inst.extCount
                     ? c.src<int32_t>(c.code->ext[inst.ext + 1 + i])[l]
                     : 0;
  }
};

/// Checks and counts the box's part of global memory; the checker hears of it
/// in pieces as long as they come. False after an error.
template <class F>
bool tellGlobal(Ctx &c, const Inst &inst, unsigned lane, const TensorMap &map,
                const int32_t *start, const char *what, bool write, F tell) {
  uint64_t first = 0;
  uint32_t length = 0;
  auto flush = [&] {
    if (length && c.checker)
      tell(first, length);
    length = 0;
  };
  bool good = eachRow(map, start, [&](uint32_t, uint64_t at, uint32_t size) {
    if (!at)
      return true;
    if (!globalRange(c, inst, lane, at, size, write, what))
      return false;
    c.worker->counters.asyncBytes += size;
    if (length && first + length == at) {
      length += size;
      return true;
    }
    flush();
    first = at;
    length = size;
    return true;
  });
  flush();
  return good;
}

void fetchBox(const TensorMap &map, const int32_t *start,
              const std::vector<BulkTarget> &targets) {
  Type type = elementType(map);
  bool nan = map.fill && isFloat(type);
  uint64_t fill = type == Type::F64   ? 0x7fffffffffffffff
                  : type == Type::F32 ? nanF32
                                      : nanF16;
  eachRow(map, start, [&](uint32_t at, uint64_t address, uint32_t size) {
    for (const BulkTarget &t : targets) {
      std::byte *to =
          t.owner->shared.data() + swizzled(t.offset + at, map.swizzle);
      if (address)
        std::memcpy(to, reinterpret_cast<const std::byte *>(address), size);
      else if (nan)
        for (uint32_t i = 0; i < size; i += map.elementBytes())
          std::memcpy(to + i, &fill, map.elementBytes());
      else
        std::memset(to, 0, size);
    }
    return true;
  });
}

/// The shared memory that a box at `offset` may take: swizzles permute within
/// 128 bytes.
std::span<const std::byte> boxMemory(const Cta &owner, uint32_t offset,
                                     uint64_t bytes) {
  return std::span(owner.shared)
      .subspan(offset, std::min<uint64_t>((bytes + 127) / 128 * 128,
                                          owner.shared.size() - offset));
}

/// `memory` is what boxMemory names, or a copy of it.
void storeBox(const TensorMap &map, const int32_t *start,
              const std::byte *memory, uint32_t offset, BulkRed op) {
  eachRow(map, start, [&](uint32_t at, uint64_t address, uint32_t size) {
    if (!address)
      return true;
    auto *to = reinterpret_cast<std::byte *>(address);
    const std::byte *from =
        memory + (swizzled(offset + at, map.swizzle) - offset);
    if (op == BulkRed::None)
      std::memcpy(to, from, size);
    else
      bulkReduce(to, from, size, op, elementType(map));
    return true;
  });
}

/// mod[0]: reduction; mod[1]: multicast; mod[2]: rank.
Step execTensorLoad(Ctx &c, const Inst &inst, uint32_t mask) {
  Operands o(c, inst);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    TensorMap map;
    if (!readMap(c, inst, l, o.map[l], inst.mod[2], map))
      return Step::Error;
    o.coordinates(c, inst, l);
    uint64_t bytes = boxBytes(map);
    std::vector<BulkTarget> targets;
    uint32_t ctas =
        inst.op[Mask] != NoSlot ? c.src<uint32_t>(inst.op[Mask])[l] : 0;
    if (!bulkTargets(c, inst, l, o.memory[l], bytes, inst.mod[1], ctas,
                     o.barrier[l], targets))
      return Step::Error;
    for (const BulkTarget &t : targets)
      if (!checkShared(c, inst, l, map, t.offset))
        return Step::Error;
    if (!tellGlobal(c, inst, l, map, o.start, "tensor load", false,
                    [&](uint64_t at, uint32_t size) {
                      if (!targets.empty())
                        c.checker->asyncGlobal(c, inst, l, at, size, 0,
                                               targets[0].engine);
                    }))
      return Step::Error;
    bulkIssued(c, inst, l, targets, bytes);
    c.worker->counters.sharedStoreBytes += bytes * targets.size();
    auto transfer = [&inst, l, map, bytes, start = std::to_array(o.start),
                     targets = std::move(targets)](Ctx &c) {
      fetchBox(map, start.data(), targets);
      return bulkArrived(c, inst, l, targets, bytes);
    };
    if (!completeAsync(c, AsyncKind::Transfer, l, std::move(transfer)))
      return Step::Error;
  }
  return Step::Next;
}

Step execTensorStore(Ctx &c, const Inst &inst, uint32_t mask) {
  Operands o(c, inst);
  std::unique_lock<std::mutex> lock;
  if (c.launch->parallel && inst.mod[0])
    lock = std::unique_lock(c.launch->atomics);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    TensorMap map;
    if (!readMap(c, inst, l, o.map[l], inst.mod[2], map))
      return Step::Error;
    o.coordinates(c, inst, l);
    Cta *owner;
    uint32_t offset;
    uint64_t bytes = boxBytes(map);
    if (!sharedRange(c, inst, l, o.memory[l], bytes, "tensor store", owner,
                     offset) ||
        !checkShared(c, inst, l, map, offset))
      return Step::Error;
    if (c.checker)
      bulkStored(c, inst, l, *owner, offset, uint32_t(bytes), 0, 0, false);
    if (!tellGlobal(c, inst, l, map, o.start, "tensor store", true,
                    [&](uint64_t at, uint32_t size) {
                      bulkStored(c, inst, l, *owner, 0, 0, at, size,
                                 inst.mod[0] != 0);
                    }))
      return Step::Error;
    completeStore(c, l, boxMemory(*owner, offset, bytes),
                  [&inst, map, offset,
                   start = std::to_array(o.start)](const std::byte *memory) {
                    storeBox(map, start.data(), memory, offset,
                             BulkRed(inst.mod[0]));
                  });
  }
  return Step::Next;
}

//===-- tensormap.replace -------------------------------------------------===//

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

/// op: address, value; mod[0]: Field; mod[1]: dimension.
Step execReplace(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation t;
  gatherAddresses(c, inst, inst.op[0], inst.imm, t.address);
  if (!translate(c, inst, mask, inst.space, 64, Access::Store, t))
    return Step::Error;
  bool wide = Field(inst.mod[0]) == Address || Field(inst.mod[0]) == Stride;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    TensorMap map;
    std::memcpy(&map, t.host[l], sizeof map);
    uint64_t v =
        wide ? c.src<uint64_t>(inst.op[1])[l] : c.src<uint32_t>(inst.op[1])[l];
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
      map.size[i] = uint32_t(v);
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
      map.fill = uint8_t(v);
      break;
    case Atomicity:
      map.swizzleAtomicity = uint8_t(v);
      break;
    }
    std::memcpy(t.host[l], &map, sizeof map);
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
  std::byte *source =
      sharedRange(c, inst, l, from.address[l], 128, "load", owner, offset);
  std::byte *target =
      source ? globalRange(c, inst, l, to.address[l], 128, true, "store")
             : nullptr;
  if (!target)
    return Step::Error;
  std::memcpy(target, source, 128);
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

bool tile::sim::decodeTensorCopy(FunctionDecoder &d,
                                 const BulkDirection &direction, BulkRed op) {
  int rank = d.hasOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1;
  if (rank == 0)
    return d.error("needs .1d to .5d");
  std::string_view rest;
  if (d.hasPrefix("im2col", rest) || d.hasPrefix("tile::", rest))
    return d.error("only the .tile mode is supported by the simulator");
  d.has("tile");
  bool load = direction.to != Space::Global,
       barrier = d.has("mbarrier::complete_tx::bytes"),
       group = d.has("bulk_group");
  bool multicast = d.has("multicast::cluster");
  if (d.hasPrefix("cta_group", rest))
    return d.error("CTA pairs are not supported by the simulator");
  bool hint = d.has("L2::cache_hint");
  if (load != barrier || load == group)
    return d.error("needs .mbarrier::complete_tx::bytes for a load and "
                   ".bulk_group for a store");
  size_t operands = (load ? 3 : 2) + multicast + hint;
  if (!d.expectOperands(operands, operands))
    return false;
  const ast::Operand &mapOperand = d.operand(load ? 1 : 0),
                     &memory = d.operand(load ? 0 : 1);
  uint32_t barrierOffset = 0;
  Space shared = Space::Shared;
  if (load) {
    if (!d.address(d.operand(2), Barrier, shared))
      return false;
    barrierOffset = uint32_t(d.inst.imm);
  }
  if (!d.address(memory, Memory, shared))
    return false;
  d.inst.target = uint32_t(d.inst.imm);
  if (mapOperand.kind != ast::Operand::Kind::Address ||
      mapOperand.elems.size() != 2 ||
      mapOperand.elems[1].elems.size() != size_t(rank))
    return d.errorAt(mapOperand, "expected [map, {" + std::to_string(rank) +
                                     " coordinates}]");
  Space generic = Space::Generic;
  if (!d.address(mapOperand, Map, generic))
    return false;
  if (generic == Space::Param)
    d.inst.imm += int64_t(ParamWindow);
  std::vector<uint32_t> coordinates;
  for (const ast::Operand &e : mapOperand.elems[1].elems)
    if (!d.src(e, Type::B32, coordinates.emplace_back()))
      return false;
  if (multicast && !d.src(3, Type::B16, Mask))
    return false;
  d.inst.ext = d.beginExt();
  d.pushExt(barrierOffset);
  for (uint32_t slot : coordinates)
    d.pushExt(slot);
  d.inst.extCount = uint16_t(1 + rank);
  d.inst.mod[0] = uint8_t(op);
  d.inst.mod[1] = multicast;
  d.inst.mod[2] = uint8_t(rank);
  return d.emit(load ? execTensorLoad : execTensorStore, Class::Async);
}

void tile::sim::registerTensorMap(DecodeTable &t) {
  t.insert({{"tensormap", decodeTensormap}});
}
