//===-- Dialect.cpp - The debug dialect -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Debug/IR/Dialect.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::debug;

#include "tile/Dialect/Debug/IR/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Debug/IR/Ops.cpp.inc"

namespace {
/// Marks go wherever the function goes that has them.
struct DebugInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

// A debugger must not decide which layout a tensor has.
LayoutRole ValueOp::getLayoutRole() { return LayoutRole::Neutral; }
bool ValueOp::acceptsAnyLayout(OpOperand &) { return true; }

void DebugDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/Debug/IR/Ops.cpp.inc"
      >();
  addInterfaces<DebugInliner>();
}
