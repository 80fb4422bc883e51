//===-- Dialect.h - All of the gluon dialect --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_GLUON_IR_DIALECT_H
#define TILE_DIALECT_GLUON_IR_DIALECT_H

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "tile/Dialect/Gluon/IR/Dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/Gluon/IR/AttrDefs.h.inc"
#define GET_OP_CLASSES
#include "tile/Dialect/Gluon/IR/Ops.h.inc"

#endif // TILE_DIALECT_GLUON_IR_DIALECT_H
