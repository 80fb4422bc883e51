//===-- SparseMetadata.h - Columns of structured sparse matrices ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sparse A stores half of its elements: two of four along K, one of two for
// tf32, two pairs of four pairs for elements of four bits. Metadata has four
// bits for each such chunk, two for each element (or pair) that is stored: its
// place in the chunk. A row of K columns takes 16, 32 or 64 bits, so 16 rows
// take one, two or four of the lanes of each quad; the selector says which.
//
// Of elements of 16 bits and more, a lane has 16 bits of row g in its low half
// and 16 of row g + 8 in its high one. Of smaller elements, even lanes have 32
// bits of row g, odd ones of row g + 8. (ptxas makes the products of fp8 from
// those of f16 and moves the metadata accordingly.)
//
//===----------------------------------------------------------------------===//
#pragma once

#include "MatrixTypes.h"

namespace tile::sim {

/// Of one warp: where each element that is stored stands in its row.
struct SparseColumns {
  static constexpr unsigned rows = 16;
  SparseColumns(const uint32_t *metadata, Type element, unsigned k,
                unsigned selector, bool isOrdered);
  uint8_t operator()(unsigned row, unsigned stored) const {
    return columns[row * mostStored + stored];
  }
  /// The places of a chunk differ, and grow if they are to be in order.
  bool isMeaningful = true;

private:
  static constexpr unsigned mostStored = 64;
  uint8_t columns[rows * mostStored];
};

/// Takes the register of metadata, which is operand `index`, and the selector
/// behind it, an immediate that names lanes of a quad.
bool takeMetadata(FunctionDecoder &d, size_t index, Type element, unsigned k,
                  uint32_t &slot, uint8_t &selector);

} // namespace tile::sim
