//===-- AsyncStoreOps.h - Stores that arrive at barriers --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Few ask for these operations, so they are not in the header of the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_ASYNCSTOREOPS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_ASYNCSTOREOPS_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h.inc"

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_ASYNCSTOREOPS_H
