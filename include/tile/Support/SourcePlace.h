//===-- SourcePlace.h - Where an operation is in the source -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_SUPPORT_SOURCEPLACE_H
#define TILE_SUPPORT_SOURCEPLACE_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::triton {

/// What messages of a kernel name.
struct SourcePlace {
  std::string file = "unknown", function = "unknown";
  int line = 0;
};

/// The place in the function that the user wrote, also where it was inlined.
SourcePlace getSourcePlace(Operation *op);

} // namespace mlir::triton

#endif // TILE_SUPPORT_SOURCEPLACE_H
