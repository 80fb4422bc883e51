//===-- Types.h - Types of the ttg dialect ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_TYPES_H
#define TILE_DIALECT_TRITONGPU_IR_TYPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Types.h"
#include "tile/Dialect/TritonGPU/IR/Attributes.h"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/TritonGPU/IR/Types.h.inc"

#endif // TILE_DIALECT_TRITONGPU_IR_TYPES_H
