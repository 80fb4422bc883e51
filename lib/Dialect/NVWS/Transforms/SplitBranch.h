//===-- SplitBranch.h - Branches of single partitions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_SPLITBRANCH_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_SPLITBRANCH_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvws {

/// The partition `owner` may do no more in a branch than to leave a slot of
/// `ring`, and to enter it again at the end. Then it gets branches of its own,
/// which are where its schedule has them. Result `number` is the token. Returns
/// the branch at the end, whose result is the token now. Null if there is none.
scf::IfOp splitBranch(scf::IfOp branch, unsigned number, Attribute owner,
                      Value ring);

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_SPLITBRANCH_H
