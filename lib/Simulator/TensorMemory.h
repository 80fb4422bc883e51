//===-- TensorMemory.h - Tensor memory of a CTA ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// 128 lanes of 512 columns of 32 bits. An address has the lane in its upper
// half and the column in its lower one. A multiprocessor runs one CTA here, so
// each CTA has all of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

namespace tile::sim {

/// Lanes, as a set, and a range of columns.
struct TensorRegion {
  static constexpr unsigned lanes = 128;
  uint64_t set[2] = {0, 0};
  uint32_t column = 0, columns = 0;

  static TensorRegion of(unsigned lane, unsigned lanes, unsigned column,
                         unsigned columns) {
    TensorRegion r;
    r.column = column;
    r.columns = columns;
    r.addLanes(lane, lanes);
    return r;
  }
  void addLanes(unsigned lane, unsigned count) {
    for (unsigned l = lane; l < lane + count && l < lanes; ++l)
      set[l / 64] |= uint64_t(1) << (l % 64);
  }
  bool has(unsigned lane) const { return set[lane / 64] >> (lane % 64) & 1; }
  unsigned firstLane() const {
    return set[0] ? unsigned(std::countr_zero(set[0]))
                  : 64 + unsigned(std::countr_zero(set[1]));
  }
  bool meets(const TensorRegion &o) const {
    return ((set[0] & o.set[0]) || (set[1] & o.set[1])) &&
           column < o.column + o.columns && o.column < column + columns;
  }
  bool covers(const TensorRegion &o) const {
    return !(o.set[0] & ~set[0]) && !(o.set[1] & ~set[1]) &&
           column <= o.column && column + columns >= o.column + o.columns;
  }
};

/// Where a collective instruction of a pair of CTAs stands in one of them.
struct TensorRequest {
  const Inst *inst = nullptr; ///< null: nobody waits
  uint32_t columns = 0;
  uint32_t address = 0;
  bool isGranted = false; ///< the other CTA has done both parts
};

struct TensorMemory {
  static constexpr unsigned lanes = TensorRegion::lanes, columns = 512;
  struct Block {
    uint32_t column, columns;
    const Inst *inst; ///< that allocated it
    const Code *code;
    uint32_t warp;
  };

  std::vector<uint32_t> cells = std::vector<uint32_t>(lanes * columns);
  std::vector<uint8_t> written = std::vector<uint8_t>(lanes * columns);
  std::vector<Block> blocks; ///< by column
  uint32_t lastSize = columns;
  bool mayAllocate = true;
  TensorRequest request;

  uint32_t &at(unsigned lane, unsigned column) {
    return cells[lane * columns + column];
  }
  const uint32_t &at(unsigned lane, unsigned column) const {
    return cells[lane * columns + column];
  }
  uint8_t &writtenAt(unsigned lane, unsigned column) {
    return written[lane * columns + column];
  }
  /// The first column of a free place; `columns` if there is none.
  uint32_t findPlace(uint32_t size) const;
  void allocate(uint32_t column, uint32_t size, const Ctx &c, const Inst &inst);
  uint32_t freeColumns() const;
  /// Is all of a range of columns allocated?
  bool isAllocated(uint32_t column, uint32_t count) const;

  static uint32_t address(unsigned lane, unsigned column) {
    return lane << 16 | column;
  }
};

inline unsigned tensorLane(uint32_t address) { return address >> 16; }
inline unsigned tensorColumn(uint32_t address) { return address & 0xffff; }
std::string nameTensor(unsigned lane, unsigned column);

/// The CTA's tensor memory, which begins with the first look at it.
TensorMemory &tensorMemory(Cta &cta);

/// Checks that lanes and columns of the CTA's tensor memory are there and
/// allocated. False after recording an error.
bool checkTensor(Ctx &c, const Inst &inst, unsigned lane, Cta &cta,
                 const TensorRegion &region, unsigned lastLane);
/// A read, of which the checker hears: each cell must hold a value. `what`
/// names what is read.
void checkTensorWritten(Ctx &c, const Inst &inst, unsigned lane, Cta &cta,
                        const TensorRegion &region, const char *what);
void markTensorWritten(Cta &cta, const TensorRegion &region);

/// The CTA ends: is everything free again?
void checkTensorLeaks(Ctx &c, const Inst &inst, unsigned lane);

} // namespace tile::sim
