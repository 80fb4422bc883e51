//===-- TensorCopy.cpp - gfx1250: tensor_load_to_lds and back -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A wave has a tile of a tensor copied, whichever of its lanes are active. The
// descriptor lies in two to four groups of scalar registers; where its fields
// are is what LLVM's amdgpu.make_dma_descriptor makes. Copies are done when
// they are issued; the checker takes them for bulk copies of the first lane,
// which tensorcnt waits for.
//
//===----------------------------------------------------------------------===//
#include "SharedLoads.h"

#include <algorithm>
#include <array>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
constexpr unsigned MostDims = 5;
constexpr unsigned groupWords[] = {4, 8, 4, 4};

/// The groups as they lie in registers; those that are not given are zero.
struct Descriptor {
  std::array<uint32_t, 20> words = {};

  /// Up to 64 bits, which start at a bit of a group.
  uint64_t field(unsigned group, unsigned first, unsigned bits) const {
    unsigned word = 0;
    for (unsigned g = 0; g < group; ++g)
      word += groupWords[g];
    uint64_t value = 0;
    for (unsigned i = 0; i < bits; ++i) {
      unsigned at = first + i;
      value |= uint64_t(words[word + at / 32] >> at % 32 & 1) << i;
    }
    return value;
  }

  bool isEmpty() const { return field(0, 0, 2) == 0; }
  bool isGather() const { return field(0, 30, 1); }
  bool hasWideIndices() const { return field(0, 31, 1); }
  uint32_t sharedAddress() const { return uint32_t(field(0, 32, 32)); }
  uint64_t globalAddress() const { return field(0, 64, 57); }
  bool hasType() const { return field(0, 126, 2) == 2; }
  uint64_t elementBytes() const { return uint64_t(1) << field(1, 16, 2); }
  bool isMulticast() const { return field(1, 0, 16); }
  bool signalsBarrier() const { return field(1, 18, 1); }
  bool isRepeated() const { return field(1, 19, 1); }
  /// After so many bytes in LDS so many are left out; 0: none.
  uint64_t padInterval() const {
    return field(1, 20, 1) ? uint64_t(8) << field(1, 22, 3) : 0;
  }
  uint64_t padBytes() const { return 4 * (field(1, 25, 7) + 1); }

  /// Elements of the tensor from the start of the tile on, and of the tile;
  /// innermost first. A tile has one element along what it does not name.
  uint64_t tensorSize(unsigned dim) const {
    static constexpr std::array<unsigned, 2> at[] = {
        {1, 48}, {1, 80}, {2, 0}, {2, 32}, {3, 48}};
    return field(at[dim][0], at[dim][1], 32);
  }
  uint64_t tileSize(unsigned dim) const {
    static constexpr std::array<unsigned, 2> at[] = {
        {1, 112}, {1, 128}, {1, 144}, {2, 112}, {3, 80}};
    return field(at[dim][0], at[dim][1], 16);
  }
  /// In elements, from one index of a dimension but the first to the next.
  uint64_t stride(unsigned dim) const {
    static constexpr std::array<unsigned, 2> at[] = {
        {1, 160}, {1, 208}, {2, 64}, {3, 0}};
    return field(at[dim - 1][0], at[dim - 1][1], 48);
  }
  /// The number of a row that is gathered.
  uint64_t row(unsigned i) const {
    unsigned bits = hasWideIndices() ? 32 : 16, at = i * bits;
    return field(2 + at / 128, at % 128, bits);
  }
  unsigned mostRows() const { return hasWideIndices() ? 8 : 16; }
};

/// A row of a tile: how many bytes of it lie in the tensor, and where; the
/// other ones are zero, or stay as they are.
struct Row {
  uint64_t inTile; ///< bytes of the tile before it
  uint64_t address;
  uint64_t inside, bytes;
};

/// Calls f(row) for the rows in the order in which LDS has them; ends where it
/// says false.
template <class F> bool eachRow(const Descriptor &d, F f) {
  uint64_t bytes = d.elementBytes(), width = d.tileSize(0) * bytes,
           valid = std::min(d.tensorSize(0), d.tileSize(0)) * bytes;
  std::array<uint64_t, MostDims> size, index = {};
  for (unsigned i = 1; i < MostDims; ++i)
    size[i] = d.isGather() && i > 1 ? 1 : std::max<uint64_t>(d.tileSize(i), 1);
  for (uint64_t row = 0;; ++row) {
    uint64_t address = d.globalAddress();
    bool isInside = true;
    for (unsigned i = 1; i < (d.isGather() ? 2 : MostDims); ++i) {
      uint64_t at = d.isGather() ? d.row(unsigned(index[i])) : index[i];
      address += at * d.stride(i) * bytes;
      isInside &= (!d.isGather() && d.tileSize(i) == 0) || at < d.tensorSize(i);
    }
    if (!f(Row{row * width, address, isInside ? valid : 0, width}))
      return false;
    unsigned dim = 1;
    while (dim < MostDims && ++index[dim] == size[dim])
      index[dim++] = 0;
    if (dim == MostDims)
      return true;
  }
}

/// Calls f(offset in LDS, first byte of the row, bytes) for the parts of a row
/// between paddings.
template <class F>
bool eachPart(const Row &row, uint64_t interval, uint64_t padding, F f) {
  for (uint64_t done = 0; done < row.bytes;) {
    uint64_t at = row.inTile + done, size = row.bytes - done;
    if (interval)
      size = std::min(size, interval - at % interval);
    if (!f(interval ? at + at / interval * padding : at, done, size))
      return false;
    done += size;
  }
  return true;
}

/// What a descriptor may not say, or what is not supported of it; null: fine.
const char *findFault(const Descriptor &d) {
  if (!d.hasType())
    return "its type is not 2";
  if (d.isMulticast())
    return "copies to several workgroups are not supported";
  if (d.signalsBarrier())
    return "arriving at a barrier is not supported";
  if (d.isRepeated())
    return "repeated copies are not supported";
  if (d.tileSize(0) == 0)
    return "its tile has no elements";
  if (d.isGather() && d.tileSize(1) > d.mostRows())
    return "it has not as many row numbers as its tile has rows";
  return nullptr;
}

/// Copies parts of one row: what lies in the tensor.
bool copyPart(Ctx &c, const Inst &inst, const Row &row, uint64_t shared,
              uint64_t first, uint64_t bytes, bool isLoad) {
  Cta *owner;
  uint32_t offset;
  std::byte *local =
      sharedRange(c, inst, 0, shared, bytes,
                  isLoad ? "tensor load" : "tensor store", owner, offset);
  if (!local)
    return false;
  uint64_t inside =
      row.inside > first ? std::min(row.inside - first, bytes) : 0;
  std::byte *global = nullptr;
  uint64_t address = row.address + first;
  if (inside &&
      !(global = globalRange(c, inst, 0, address, inside, !isLoad,
                             isLoad ? "tensor load" : "tensor store")))
    return false;
  if (c.checker) {
    uint32_t thread = c.checker->threadOf(c, 0),
             reads = c.checker->engineOf(EngineKind::BulkRead, thread),
             writes = c.checker->engineOf(EngineKind::BulkWrite, thread);
    uint8_t write = Event::Write | Event::Generic;
    if (isLoad || inside)
      c.checker->asyncShared(
          c, inst, 0, *owner, offset, uint32_t(isLoad ? bytes : inside),
          isLoad ? write : Event::Generic, isLoad ? writes : reads);
    c.checker->asyncGlobal(c, inst, 0, address, uint32_t(inside),
                           isLoad ? Event::Generic : write,
                           isLoad ? reads : writes);
  }
  if (!isLoad) {
    if (inside)
      std::memcpy(global, local, inside);
    return true;
  }
  if (inside)
    std::memcpy(local, global, inside);
  std::memset(local + inside, 0, bytes - inside);
  return true;
}

template <bool IsLoad> Step execCopy(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Tensor, false);
  Descriptor d;
  uint32_t *words = d.words.data();
  for (unsigned group = 0; group < 4; words += groupWords[group++])
    if (inst.op[group] != NoSlot)
      std::memcpy(words, c.src<std::byte>(inst.op[group] & ~ScalarBit),
                  groupWords[group] * 4);
  if (!d.isEmpty()) {
    if (const char *fault = findFault(d))
      return c.fail(inst, 0, "bad-descriptor",
                    std::string("the tensor's descriptor: ") + fault);
    if (!IsLoad) {
      ++c.cluster->stores;
      checkSharedWrites(c, inst, "when they are copied",
                        "copies go another way to LDS than a wave's writes");
    }
    // What is stored has no gaps.
    uint64_t interval = IsLoad ? d.padInterval() : 0;
    bool good = eachRow(d, [&](const Row &row) {
      c.worker->counters.asyncBytes += row.inside;
      if (c.counting)
        (IsLoad ? c.worker->counters.sharedStoreBytes
                : c.worker->counters.sharedLoadBytes) += row.bytes;
      return eachPart(row, interval, d.padBytes(),
                      [&](uint64_t offset, uint64_t first, uint64_t bytes) {
                        return copyPart(c, inst, row,
                                        d.sharedAddress() + offset, first,
                                        bytes, IsLoad);
                      });
    });
    if (!good)
      return Step::Error;
  }
  if (c.checker)
    for (EngineKind kind : {EngineKind::BulkRead, EngineKind::BulkWrite})
      c.checker->commit(c, kind, 1);
  orderWave(c);
  return Step::Next;
}

template <bool IsLoad> bool decodeCopy(InstDecoder &d) {
  if (!d.target().gfx1250)
    return d.error("the target has no such instruction");
  for (const char *name : {"th", "scope", "nv"})
    d.has(name);
  d.inst.space = Space::Global;
  d.inst.mod[3] |= OneLane;
  if (!d.expect(2, 4))
    return false;
  for (unsigned i = 0; i < d.operandCount(); ++i)
    if (!d.scalar(i, groupWords[i], Imm::B32, i, Needed))
      return false;
  return d.emit(execCopy<IsLoad>, IsLoad ? Class::Load : Class::Store);
}
} // namespace

void tile::sim::amdgcn::registerTensorCopy(OpcodeTable &t) {
  t.insert({{"tensor_load_to_lds", decodeCopy<true>},
            {"tensor_store_from_lds", decodeCopy<false>}});
}
