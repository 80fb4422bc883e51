//===-- TensorCopy.cpp - cp.async.bulk.tensor -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A copy of a tile takes a box whose first element is named by coordinates. In
// im2col mode it takes pixels, rows of channels. It begins at the one named,
// and goes on, first along dimension 1, until it has its number of them. Pixels
// stay within a box that the map has. Offsets move what is read, not where the
// walk turns.
//
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Schedule.h"
#include "BulkCopy.h"
#include "tile/Simulator/TensorMap.h"

#include <algorithm>
#include <cstring>
#include <sstream>

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
  if (map.isPadded())
    return Type::U8;
  static constexpr Type types[] = {Type::U8,  Type::U16, Type::U32,  Type::S32,
                                   Type::U64, Type::S64, Type::F16,  Type::F32,
                                   Type::F32, Type::F64, Type::BF16, Type::F32,
                                   Type::F32};
  return types[map.elementType];
}

/// Where a copy begins: coordinates, and the offsets of im2col. In a copy that
/// gathers or scatters, `at` has the column and four rows.
struct Start {
  static constexpr unsigned mostRows = 4;
  int32_t at[TensorMap::mostRank] = {};
  uint16_t offset[TensorMap::mostRank - 2] = {};
  bool takesRows = false;
};

/// What a copy's instruction says of its map.
struct Form {
  unsigned rank;
  bool isIm2col, takesRows, isLoad;
  explicit Form(const Inst &inst)
      : rank(inst.mod[2]), isIm2col(inst.mod[3] & Im2col),
        takesRows(inst.mod[3] & Rows), isLoad(inst.mod[3] & Load) {}
  /// Inst::mod[3].
  enum : uint8_t { Im2col = 1, Rows = 2, OfPair = 4, Load = 8 };
};

/// The same of a map of padded 4-bit elements, before it counts pairs.
std::string whyBadPadding(const TensorMap &map, const Form &form) {
  constexpr uint64_t elements = 128, bytes = 32;
  constexpr unsigned swizzle128 = 3;
  auto is = [](const char *what, uint64_t found) {
    return std::string("of padded 4-bit elements ") + what + ", found " +
           std::to_string(found);
  };
  if (!form.isLoad || form.isIm2col || form.takesRows)
    return "of padded 4-bit elements the simulator knows loads of tiles only";
  // Hardware wants an address that is a multiple of 32, too. Arrays of the host
  // are aligned to 16.
  for (unsigned i = 0; i + 1 < map.rank(); ++i)
    if (map.stride[i] % bytes)
      return is("strides must be multiples of 32", map.stride[i]);
  if (map.size[0] % elements)
    return is("the innermost dimension must have a multiple of 128",
              map.size[0]);
  if (map.box[0] != elements)
    return is("a box must have rows of 128", map.box[0]);
  if (map.swizzle && map.swizzle != swizzle128)
    return "of padded 4-bit elements the swizzle must be none, or of 128 bytes";
  return "";
}

/// Why hardware would not take the map; empty if it does.
std::string whyBad(const TensorMap &map, const Form &form) {
  auto text = [](auto... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
  };
  if (map.rankMinusOne > 4 || map.rank() != form.rank)
    return text("the tensor map has rank ", map.rank(), ", the instruction ",
                form.rank);
  if (map.isIm2col != form.isIm2col)
    return text("the tensor map is ", map.isIm2col ? "" : "not ",
                "for im2col copies");
  if (map.elementBytes() == 0)
    return text("the tensor map's element type ", unsigned(map.elementType),
                " is not supported");
  if (map.interleave)
    return "interleaved tensor maps are not supported by the simulator";
  if (map.address & 15)
    return "the tensor's address is not a multiple of 16";
  if (map.isPadded())
    return whyBadPadding(map, form);
  uint64_t inner = uint64_t(map.box[0]) * map.elementBytes();
  if (inner & 15)
    return text("the box's inner dimension has ", inner,
                " bytes, which is not a multiple of 16");
  static constexpr unsigned spans[] = {0, 32, 64, 128};
  if (map.swizzle && inner > spans[map.swizzle])
    return text("the box's inner dimension has ", inner,
                " bytes, more than the swizzle of ", spans[map.swizzle]);
  if (form.takesRows && map.box[1] != 1)
    return text("the tensor map's box has ", map.box[1],
                " rows; to gather or scatter rows it must have one");
  for (unsigned i = 0; form.isIm2col && i + 2 < form.rank; ++i)
    if (map.lower[i] >= int64_t(map.size[i + 1]) + map.upper[i])
      return text("the box of pixels is empty in dimension ", i + 1);
  return "";
}

bool readMap(Ctx &c, const Inst &inst, unsigned l, uint64_t address,
             TensorMap &map) {
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
    host = plain + TensorMap::bytes <= c.launch->args.size()
               ? c.launch->args.data() + plain
               : nullptr;
  else if (window == 0)
    host = globalRange(c, inst, l, address, TensorMap::bytes, false,
                       "tensor map read");
  if (!host)
    return window == 0 ? false
                       : bad("a tensor map must be in global or constant "
                             "memory or a kernel parameter");
  map = TensorMap::decode(host);
  Form form(inst);
  if (std::string why = whyBad(map, form); !why.empty())
    return bad(std::move(why));
  if (map.isPadded())
    map.countPairs();
  if (form.takesRows) {
    map.box[1] = Start::mostRows;
    map.elementStride[1] = 1;
  }
  return true;
}

/// Elements of the box along a dimension from 1 on: every elementStride-th one
/// is copied. Along dimension 0 the stride has no effect.
uint32_t boxElements(const TensorMap &map, unsigned i) {
  return (map.box[i] + map.elementStride[i] - 1) / map.elementStride[i];
}

/// Where the element x of a row lies in shared memory.
uint64_t placeInRow(const TensorMap &map, uint64_t x) {
  constexpr uint64_t chunk = 8; // and as much padding
  return map.isPadded() ? x / chunk * 2 * chunk + x % chunk
                        : x * map.elementBytes();
}

/// From a row of a box to the next, in shared memory.
uint64_t rowPitch(const TensorMap &map) {
  return map.swizzle ? 16u << map.swizzle : placeInRow(map, map.box[0]);
}

/// An H200 ends a copy as an illegal instruction whose box begins elsewhere.
bool checkStart(Ctx &c, const Inst &inst, unsigned l, const TensorMap &map,
                const Start &start, bool write) {
  int64_t first = int64_t(start.at[0]) * map.elementBytes();
  // The start counts bytes by now.
  if (map.isPadded() && first & 63) {
    c.fail(inst, l, "misaligned",
           "the box begins at element " + std::to_string(2 * first) +
               " of the innermost dimension, which is not a multiple of 128, "
               "as padded 4-bit elements want it");
    return false;
  }
  if (first & 15) {
    c.fail(inst, l, "misaligned",
           "the box begins at byte " + std::to_string(first) +
               " of the innermost dimension, which is not a multiple of 16");
    return false;
  }
  for (unsigned i = 0; write && i < (start.takesRows ? 1 : map.rank()); ++i)
    if (start.at[i] < 0) {
      c.fail(inst, l, "out-of-bounds",
             "the box of a store begins at element " +
                 std::to_string(start.at[i]) + " of dimension " +
                 std::to_string(i) +
                 ", the innermost one being 0: that of a load may, a store's "
                 "may not be negative");
      return false;
    }
  return true;
}

/// One row of the inner dimension for eachRow. `row` is where it begins if it
/// is inside. Stores write the last 16 bytes of a row as a whole, whether or
/// not all of them are inside.
template <class F>
bool eachRun(const TensorMap &map, int64_t first, bool inside, uint64_t row,
             uint64_t shared, bool write, F f) {
  unsigned element = map.elementBytes(), chunk = write ? 16 / element : 1;
  auto end = int64_t((map.size[0] + chunk - 1) / chunk * chunk);
  auto isHere = [&](int64_t at) { return inside && at >= 0 && at < end; };
  for (uint32_t x = 0; x < map.box[0];) {
    bool here = isHere(first + x);
    // Neighbours that are all inside or all outside form one run within a
    // chunk of 16 bytes.
    uint32_t run = 1;
    while (x + run < map.box[0] &&
           ((map.isPadded() ? (x + run) & 7
                            : (shared + (x + run) * element) & 15)) &&
           isHere(first + x + run) == here)
      ++run;
    if (!f(uint32_t(shared + placeInRow(map, x)),
           here ? row + uint64_t(first + x) * element : 0, run * element))
      return false;
    x += run;
  }
  return true;
}

/// Calls f(shared offset in the box, global address or 0 when outside, bytes)
/// for each run of elements that a load, or a store (`write`), accesses.
template <class F>
bool eachRow(const TensorMap &map, const Start &start, bool write, F f) {
  unsigned rank = map.rank();
  uint32_t index[TensorMap::mostRank] = {};
  int64_t pixel[TensorMap::mostRank];
  std::copy(start.at, start.at + TensorMap::mostRank, pixel);
  uint64_t shared = 0;
  for (uint32_t count = 1;; ++count) {
    bool inside = true;
    uint64_t row = map.address;
    for (unsigned i = 1; i < rank; ++i) {
      int64_t at = map.isIm2col
                       ? pixel[i] + (i + 1 < rank ? start.offset[i - 1] : 0)
                   : start.takesRows
                       ? start.at[1 + index[i]]
                       : start.at[i] + int64_t(index[i]) * map.elementStride[i];
      inside &= at >= 0 && at < int64_t(map.size[i]);
      row += uint64_t(at) * map.stride[i - 1];
    }
    if (!eachRun(map, start.at[0], inside, row, shared, write, f))
      return false;
    shared += rowPitch(map);
    unsigned i = 1;
    if (map.isIm2col) {
      for (; i + 1 < rank && (pixel[i] += map.elementStride[i]) >=
                                 int64_t(map.size[i]) + map.upper[i - 1];
           ++i)
        pixel[i] = map.lower[i - 1];
      pixel[i] += i + 1 == rank;
      if (count == map.pixels)
        return true;
      continue;
    }
    for (; i < rank && ++index[i] == boxElements(map, i); ++i)
      index[i] = 0;
    if (i >= rank)
      return true;
  }
}

uint64_t boxRows(const TensorMap &map) {
  if (map.isIm2col)
    return map.pixels;
  uint64_t rows = 1;
  for (unsigned i = 1; i < map.rank(); ++i)
    rows *= boxElements(map, i);
  return rows;
}
/// What is copied, and what it takes of shared memory.
uint64_t boxBytes(const TensorMap &map) {
  return boxRows(map) * map.box[0] * map.elementBytes();
}
uint64_t boxExtent(const TensorMap &map) {
  return boxRows(map) * rowPitch(map);
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
  Start start;
  Operands(Ctx &c, const Inst &inst) {
    gatherAddresses(c, inst, inst.op[Map], inst.imm, map);
    gatherAddresses(c, inst, inst.op[Memory], int64_t(int32_t(inst.target)),
                    memory);
    if (inst.op[Barrier] != NoSlot)
      gatherAddresses(c, inst, inst.op[Barrier],
                      int64_t(int32_t(c.code->ext[inst.ext])), barrier);
  }
  void coordinates(Ctx &c, const Inst &inst, unsigned l) {
    const uint32_t *slots = &c.code->ext[inst.ext + 1];
    Form form(inst);
    start.takesRows = form.takesRows;
    unsigned count = form.takesRows ? 1 + Start::mostRows : form.rank,
             offsets = inst.extCount - 1 - count;
    for (unsigned i = 0; i < count; ++i)
      start.at[i] = c.src<int32_t>(slots[i])[l];
    for (unsigned i = 0; i < offsets; ++i)
      start.offset[i] = uint16_t(c.src<uint32_t>(slots[count + i])[l]);
  }
  /// As the map counts: coordinates of 4-bit elements become those of bytes.
  bool countPairs(Ctx &c, const Inst &inst, unsigned l, const TensorMap &map) {
    if (!map.isPadded())
      return true;
    if (start.at[0] & 1) {
      c.fail(inst, l, "misaligned",
             "the box begins in the middle of a byte of 4-bit elements");
      return false;
    }
    start.at[0] /= 2;
    return true;
  }
};

/// Checks and counts the box's part of global memory; the checker hears of it
/// in pieces as long as they come. False after an error.
template <class F>
bool tellGlobal(Ctx &c, const Inst &inst, unsigned lane, const TensorMap &map,
                const Start &start, const char *what, bool write, F tell) {
  uint64_t first = 0;
  uint32_t length = 0;
  auto flush = [&] {
    if (length && c.checker)
      tell(first, length);
    length = 0;
  };
  if (!checkStart(c, inst, lane, map, start, write))
    return false;
  bool good =
      eachRow(map, start, write, [&](uint32_t, uint64_t at, uint32_t size) {
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

bool isInGlobalMemory(uint64_t address) { return !(address >> WindowShift); }

/// The checker hears that a load reads its map. The thread can wait for its own
/// block's part of a multicast.
void tellMap(Ctx &c, const Inst &inst, unsigned lane, uint64_t map,
             const std::vector<BulkTarget> &targets) {
  if (!c.checker || targets.empty() || !isInGlobalMemory(map))
    return;
  auto own = std::ranges::find(targets, c.cta, &BulkTarget::owner);
  c.checker->mapRead(c, inst, lane, map,
                     (own == targets.end() ? targets.front() : *own).engine);
}

/// Elements of f32 become the nearest ones of tf32; what is not finite stays.
void copyRounded(std::byte *to, const std::byte *from, uint32_t size) {
  for (uint32_t i = 0; i < size; i += 4) {
    float element;
    std::memcpy(&element, from + i, 4);
    uint32_t bits = std::bit_cast<uint32_t>(element);
    if (std::isfinite(element))
      bits = tf32FromFloat(element, Round::Nearest);
    std::memcpy(to + i, &bits, 4);
  }
}

void fetchBox(const TensorMap &map, const Start &start,
              const std::vector<BulkTarget> &targets) {
  bool nan = map.fillsNan && isFloat(elementType(map));
  // The NaN of 16 bits that fma.oob knows, whatever the type.
  constexpr uint64_t fill = 0x7ff77ff77ff77ff7;
  eachRow(
      map, start, /*write=*/false,
      [&](uint32_t at, uint64_t address, uint32_t size) {
        for (const BulkTarget &t : targets) {
          std::byte *to =
              t.owner->shared.data() + swizzled(t.offset + at, map.swizzle);
          if (address && map.roundsToTf32())
            copyRounded(to, reinterpret_cast<const std::byte *>(address), size);
          else if (address)
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
void storeBox(const TensorMap &map, const Start &start, const std::byte *memory,
              uint32_t offset, BulkRed op) {
  eachRow(map, start, /*write=*/true,
          [&](uint32_t at, uint64_t address, uint32_t size) {
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

/// mod[0]: reduction; mod[1]: multicast; mod[2]: rank; mod[3]: as Form has it.
Step execTensorLoad(Ctx &c, const Inst &inst, uint32_t mask) {
  Operands o(c, inst);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    TensorMap map;
    if (!readMap(c, inst, l, o.map[l], map))
      return Step::Error;
    o.coordinates(c, inst, l);
    if (!o.countPairs(c, inst, l, map))
      return Step::Error;
    uint64_t bytes = boxBytes(map), extent = boxExtent(map);
    std::vector<BulkTarget> targets;
    uint32_t ctas =
        inst.op[Mask] != NoSlot ? c.src<uint32_t>(inst.op[Mask])[l] : 0;
    if (!bulkTargets(c, inst, l, o.memory[l], extent, inst.mod[1], ctas,
                     o.barrier[l], targets, inst.mod[3] & Form::OfPair))
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
    tellMap(c, inst, l, o.map[l], targets);
    bulkIssued(c, inst, l, targets, extent);
    c.worker->counters.sharedStoreBytes += bytes * targets.size();
    auto transfer = [&inst, l, map, bytes, start = o.start,
                     targets = std::move(targets)](Ctx &c) {
      fetchBox(map, start, targets);
      return bulkArrived(c, inst, l, targets, bytes);
    };
    if (!completeAsync(c, AsyncKind::Transfer, l, std::move(transfer)))
      return Step::Error;
  }
  return Step::Next;
}

Step execTensorStore(Ctx &c, const Inst &inst, uint32_t mask) {
  Operands o(c, inst);
  if (inst.mod[0] && !awaitTurn(c))
    return Step::Error;
  std::unique_lock<std::mutex> lock;
  if (inst.mod[0])
    lock = c.launch->group->lockAtomics();
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    TensorMap map;
    if (!readMap(c, inst, l, o.map[l], map))
      return Step::Error;
    o.coordinates(c, inst, l);
    Cta *owner;
    uint32_t offset;
    uint64_t bytes = boxExtent(map);
    if (!sharedRange(c, inst, l, o.memory[l], bytes, "tensor store", owner,
                     offset) ||
        !checkShared(c, inst, l, map, offset))
      return Step::Error;
    if (c.checker && boxBytes(map) == bytes)
      bulkStored(c, inst, l, *owner, offset, uint32_t(bytes), 0, 0, false);
    else if (c.checker) // what lies between short rows is not read
      for (uint64_t at = 0; at < bytes; at += 16)
        if (at % rowPitch(map) < uint64_t(map.box[0]) * map.elementBytes())
          bulkStored(c, inst, l, *owner,
                     swizzled(offset + uint32_t(at), map.swizzle), 16, 0, 0,
                     false);
    if (c.checker && isInGlobalMemory(o.map[l]))
      c.checker->mapRead(
          c, inst, l, o.map[l],
          c.checker->engineOf(EngineKind::BulkRead, c.checker->threadOf(c, l)));
    if (!tellGlobal(c, inst, l, map, o.start, "tensor store", true,
                    [&](uint64_t at, uint32_t size) {
                      bulkStored(c, inst, l, *owner, 0, 0, at, size,
                                 inst.mod[0] != 0);
                    }))
      return Step::Error;
    completeStore(
        c, l, boxMemory(*owner, offset, bytes),
        [&inst, map, offset, start = o.start](const std::byte *memory) {
          storeBox(map, start, memory, offset, BulkRed(inst.mod[0]));
        });
  }
  return Step::Next;
}

} // namespace

bool tile::sim::decodeTensorCopy(FunctionDecoder &d,
                                 const BulkDirection &direction, BulkRed op) {
  int rank = d.hasOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1;
  if (rank == 0)
    return d.error("needs .1d to .5d");
  std::string_view rest;
  bool load = direction.to != Space::Global,
       takesRows = d.has(load ? "tile::gather4" : "tile::scatter4");
  if (d.hasPrefix("im2col::w", rest))
    return d.error("the mode .im2col::w is not supported by the simulator: the "
                   "bytes of its tensor maps are not published");
  if (d.hasPrefix("im2col::", rest) || d.hasPrefix("tile::", rest))
    return d.error("only the modes .tile, .tile::gather4, .tile::scatter4, "
                   ".im2col and .im2col_no_offs are supported by the "
                   "simulator");
  if (takesRows && rank != 2)
    return d.error("rows are gathered and scattered in .2d");
  bool isIm2col = d.has(load ? "im2col" : "im2col_no_offs");
  if (!isIm2col)
    d.has("tile");
  else if (rank < 3)
    return d.error("im2col needs .3d to .5d");
  bool barrier = d.has("mbarrier::complete_tx::bytes"),
       group = d.has("bulk_group");
  bool multicast = d.has("multicast::cluster");
  bool ofPair = d.hasOneOf({"cta_group::1", "cta_group::2"}) == 1;
  bool hint = d.has("L2::cache_hint");
  if (load != barrier || load == group)
    return d.error("needs .mbarrier::complete_tx::bytes for a load and "
                   ".bulk_group for a store");
  bool offsets = load && isIm2col;
  size_t operands = (load ? 3 : 2) + offsets + multicast + hint;
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
  size_t coordinateCount = takesRows ? 1u + Start::mostRows : size_t(rank);
  if (mapOperand.kind != ast::Operand::Kind::Address ||
      mapOperand.elems.size() != 2 ||
      mapOperand.elems[1].elems.size() != coordinateCount)
    return d.errorAt(mapOperand, "expected [map, {" +
                                     std::to_string(coordinateCount) +
                                     " coordinates}]");
  Space generic = Space::Generic;
  if (!d.address(mapOperand, Map, generic))
    return false;
  if (generic == Space::Param)
    d.inst.imm += int64_t(ParamWindow);
  std::vector<uint32_t> ext = {barrierOffset};
  for (const ast::Operand &e : mapOperand.elems[1].elems)
    if (!d.src(e, Type::B32, ext.emplace_back()))
      return false;
  if (offsets) {
    const ast::Operand &list = d.operand(3);
    if (d.elements(list).size() != size_t(rank - 2))
      return d.errorAt(list,
                       "expected " + std::to_string(rank - 2) + " offsets");
    for (const ast::Operand *e : d.elements(list))
      if (!d.src(*e, Type::B16, ext.emplace_back()))
        return false;
  }
  if (multicast && !d.src(3 + offsets, Type::B16, Mask))
    return false;
  d.setExt(ext);
  d.inst.mod[0] = uint8_t(op);
  d.inst.mod[1] = multicast;
  d.inst.mod[2] = uint8_t(rank);
  d.inst.mod[3] =
      uint8_t((isIm2col ? Form::Im2col : 0) | (takesRows ? Form::Rows : 0) |
              (ofPair ? Form::OfPair : 0) | (load ? Form::Load : 0));
  return d.emit(load ? execTensorLoad : execTensorStore, Class::Async);
}
