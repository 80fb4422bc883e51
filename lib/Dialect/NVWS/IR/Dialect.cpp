//===-- Dialect.cpp - The nvws dialect, its types and attributes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/NVWS/IR/Dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton::nvws;

#include "tile/Dialect/NVWS/IR/Dialect.cpp.inc"
#include "tile/Dialect/NVWS/IR/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/NVWS/IR/AttrDefs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/NVWS/IR/Types.cpp.inc"

void NVWSDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/NVWS/IR/AttrDefs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tile/Dialect/NVWS/IR/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/NVWS/IR/Ops.cpp.inc"
      >();
}
