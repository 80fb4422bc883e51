//===-- TransposedLoads.h - Loads from LDS that transpose -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ds_read_b64_tr_b16 and ds_read_b64_tr_b8: each of 16 lanes gives an address
// of 8 bytes, a piece of a row of 16 elements; then it gets a column of the 4
// or 8 rows. So operands that memory has across K are read in wide accesses.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_TRANSPOSEDLOADS_H
#define AMD_TRANSPOSEDLOADS_H

#include "amd/TargetTable.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::amd {

/// Whether the target has such loads of elements of `bits` bits.
bool hasTransposedLoads(const AMDTarget &target, unsigned bits);

/// How many elements a lane gives, and gets.
inline unsigned getTransposedVector(unsigned bits) { return 64 / bits; }

/// From a layout on registers and lanes of what lanes get, that of what their
/// addresses are of: the registers of a vector change places with the lowest
/// lanes. Nullopt if there are too few of them.
std::optional<LinearLayout> getAddressedLayout(const LinearLayout &layout,
                                               unsigned bits);

} // namespace mlir::triton::amd

#endif // AMD_TRANSPOSEDLOADS_H
