//===-- Dialect.cpp - The proton dialect ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Proton/IR/Dialect.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::triton::proton;

#include "tile/Dialect/Proton/IR/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Proton/IR/Ops.cpp.inc"

namespace {
/// Records go wherever the function goes that has them.
struct ProtonInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void ProtonDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/Proton/IR/Ops.cpp.inc"
      >();
  addInterfaces<ProtonInliner>();
}
