//===-- PackedArithOps.h - Arithmetic on pairs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Few ask for this operation, so it is not in the header of the dialect.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHOPS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHOPS_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithKind.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.h.inc"

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHOPS_H
