//===-- TensorMemory.cpp - Tensor memory of a CTA -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorMemory.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

uint32_t TensorMemory::findPlace(uint32_t size) const {
  // Sizes never grow, so the first place that is free is aligned, too.
  uint32_t at = 0;
  for (const Block &b : blocks) {
    if (b.column - at >= size)
      return at;
    at = b.column + b.columns;
  }
  return columns - at >= size ? at : columns;
}

void TensorMemory::allocate(uint32_t column, uint32_t size, const Ctx &c,
                            const Inst &inst) {
  auto after = std::find_if(blocks.begin(), blocks.end(),
                            [&](const Block &b) { return b.column > column; });
  blocks.insert(after, {column, size, &inst, c.code, c.warp->index});
  lastSize = size;
  for (unsigned lane = 0; lane < lanes; ++lane)
    std::fill_n(&writtenAt(lane, column), size, 0);
}

uint32_t TensorMemory::freeColumns() const {
  uint32_t left = columns;
  for (const Block &b : blocks)
    left -= b.columns;
  return left;
}

bool TensorMemory::isAllocated(uint32_t column, uint32_t count) const {
  // Blocks may lie side by side.
  for (const Block &b : blocks)
    if (column >= b.column && column < b.column + b.columns) {
      uint32_t here = std::min(count, b.column + b.columns - column);
      column += here;
      count -= here;
      if (!count)
        return true;
    }
  return !count;
}

std::string tile::sim::nameTensor(unsigned lane, unsigned column) {
  return "lane " + std::to_string(lane) + ", column " + std::to_string(column);
}

TensorMemory &tile::sim::tensorMemory(Cta &cta) {
  if (!cta.tensor)
    cta.tensor = std::make_shared<TensorMemory>();
  return *cta.tensor;
}

bool tile::sim::checkTensor(Ctx &c, const Inst &inst, unsigned lane, Cta &cta,
                            const TensorRegion &region, unsigned lastLane) {
  std::string where = "columns " + std::to_string(region.column) + " to " +
                      std::to_string(region.column + region.columns - 1) +
                      " of tensor memory";
  if (lastLane >= TensorMemory::lanes) {
    c.fail(inst, lane, "out-of-bounds",
           "tensor memory has no lane " + std::to_string(lastLane));
    return false;
  }
  if (region.column + region.columns > TensorMemory::columns ||
      !tensorMemory(cta).isAllocated(region.column, region.columns)) {
    std::string blocks;
    for (const TensorMemory::Block &b : tensorMemory(cta).blocks)
      blocks += (blocks.empty() ? "" : ", ") + std::to_string(b.column) +
                " to " + std::to_string(b.column + b.columns - 1);
    c.fail(inst, lane, "out-of-bounds",
           "access to " + where + ", of which the CTA has allocated " +
               (blocks.empty() ? std::string("none") : blocks));
    return false;
  }
  return true;
}

void tile::sim::checkTensorWritten(Ctx &c, const Inst &inst, unsigned lane,
                                   Cta &cta, const TensorRegion &region,
                                   const char *what) {
  if (!(c.checks & CheckUninitialized))
    return;
  TensorMemory &memory = tensorMemory(cta);
  for (unsigned l = 0; l < TensorMemory::lanes; ++l) {
    if (!region.has(l))
      continue;
    const uint8_t *from = &memory.writtenAt(l, region.column);
    const void *bad = std::memchr(from, 0, region.columns);
    if (!bad)
      continue;
    c.note(inst, lane, "uninitialized",
           std::string("read of ") + what + " in tensor memory (" +
               nameTensor(
                   l, region.column +
                          unsigned(static_cast<const uint8_t *>(bad) - from)) +
               ") that nobody has written");
    // Once is enough.
    markTensorWritten(cta, region);
    return;
  }
}

void tile::sim::markTensorWritten(Cta &cta, const TensorRegion &region) {
  TensorMemory &memory = tensorMemory(cta);
  for (unsigned l = 0; l < TensorMemory::lanes; ++l)
    if (region.has(l))
      std::memset(&memory.writtenAt(l, region.column), 1, region.columns);
}

void tile::sim::checkTensorLeaks(Ctx &c, const Inst &, unsigned lane) {
  if (!c.cta->tensor || !(c.checks & CheckAsync))
    return;
  const Code *code = c.code;
  for (const TensorMemory::Block &b : c.cta->tensor->blocks) {
    c.code = b.code;
    c.note(*b.inst, lane, "tensor-memory-leak",
           "the CTA ends with columns " + std::to_string(b.column) + " to " +
               std::to_string(b.column + b.columns - 1) +
               " of tensor memory still allocated: a tcgen05.dealloc is "
               "missing");
  }
  c.code = code;
}
