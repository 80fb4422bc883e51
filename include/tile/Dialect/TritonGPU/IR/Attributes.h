//===-- Attributes.h - Encodings of the ttg dialect -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_ATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_ATTRIBUTES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "tile/Layout/LinearLayout.h"

#include "tile/Dialect/TritonGPU/IR/Enums.h.inc"

// In this order: the interfaces return the first class, the encodings implement
// the interfaces.
#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/TritonGPU/IR/CTALayout.h.inc"

#include "tile/Dialect/TritonGPU/IR/AttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/TritonGPU/IR/AttrDefs.h.inc"

#endif // TILE_DIALECT_TRITONGPU_IR_ATTRIBUTES_H
