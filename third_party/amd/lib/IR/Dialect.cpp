//===-- Dialect.cpp - The amdg dialect ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton::amdgpu;

#include "amd/IR/Dialect.cpp.inc"
#include "amd/IR/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "amd/IR/AttrDefs.cpp.inc"

void AMDGDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "amd/IR/AttrDefs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amd/IR/Ops.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "amd/IR/Ops.cpp.inc"
