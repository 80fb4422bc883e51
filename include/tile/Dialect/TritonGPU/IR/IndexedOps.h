//===-- IndexedOps.h - Buffers by index -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations on chosen elements of shared memory. Few ask for them, so they are
// not in the header of the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_INDEXEDOPS_H
#define TILE_DIALECT_TRITONGPU_IR_INDEXEDOPS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#define GET_OP_CLASSES
#include "tile/Dialect/TritonGPU/IR/IndexedOps.h.inc"

#endif // TILE_DIALECT_TRITONGPU_IR_INDEXEDOPS_H
