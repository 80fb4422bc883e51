//===-- InlineAnywhere.h - Operations that may be inlined -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_INLINEANYWHERE_H
#define TILE_DIALECT_TRITON_IR_INLINEANYWHERE_H

#include "mlir/Transforms/InliningUtils.h"

namespace mlir::triton {

/// Of dialects of which nothing depends on the function that it stands in.
struct InlineAnywhere : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_INLINEANYWHERE_H
