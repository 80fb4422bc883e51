//===-- TransposedLoads.h - Loads from LDS that transpose -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each of 16 lanes gives the address of a piece of a row of 16 elements. Then
// it gets a column of the rows, as many elements as the piece had. So operands
// that memory has across K are read in wide accesses.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_TRANSPOSEDLOADS_H
#define AMD_TRANSPOSEDLOADS_H

#include "amd/TargetTable.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::amd {

/// Of a row that is read, and lanes that transpose among themselves.
constexpr unsigned kTransposedColumns = 16;

/// A load of some size of elements.
struct TransposedLoad {
  const char *intrinsic;
  /// The integers that it returns.
  unsigned resultBits, numResults;
  /// How many elements a lane gives, and gets.
  unsigned vector;
  /// The lowest bit of a lane's number that counts the pieces of a row; the
  /// bits beside them count rows.
  unsigned pieceBit;
};

/// The one for elements of `bits` bits, if the target has it.
std::optional<TransposedLoad> findTransposedLoad(const AMDTarget &target,
                                                 unsigned bits);

/// From a layout on registers and lanes of what lanes get, that of what their
/// addresses are of: the registers of a vector change places with the lowest
/// lanes. Nullopt if there are too few of them.
std::optional<LinearLayout> getAddressedLayout(const LinearLayout &layout,
                                               const TransposedLoad &load);

} // namespace mlir::triton::amd

#endif // AMD_TRANSPOSEDLOADS_H
