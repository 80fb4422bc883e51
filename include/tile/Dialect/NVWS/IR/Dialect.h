//===-- Dialect.h - All of the nvws dialect ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_NVWS_IR_DIALECT_H
#define TILE_DIALECT_NVWS_IR_DIALECT_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "tile/Dialect/NVWS/IR/Dialect.h.inc"
#include "tile/Dialect/NVWS/IR/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/NVWS/IR/AttrDefs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/NVWS/IR/Types.h.inc"
#define GET_OP_CLASSES
#include "tile/Dialect/NVWS/IR/Ops.h.inc"

#endif // TILE_DIALECT_NVWS_IR_DIALECT_H
