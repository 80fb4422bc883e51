//===-- OperandEncodings.h - Operands in LDS --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDENCODINGS_H
#define AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDENCODINGS_H

#include "amd/TargetModel.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::amd {

/// The dimension along which dots with this operand sum.
unsigned getInnerDim(gpu::DotOperandEncodingAttr operand, unsigned rank);

/// The layout in LDS of what `load` loads, from which lanes read operands of
/// MFMA or WMMA, the first of its users. Neighbours of a lane lie together
/// where the load has several of them in a lane. One that rows explain, unless
/// another has fewer bank conflicts. With `pieceBytes`, memory is loaded in
/// such pieces, which stay together.
Attribute getOperandSharedEncoding(LoadOp load,
                                   std::optional<unsigned> pieceBytes = {});

/// Whether lanes read `operand` from LDS by loads that transpose, if it lies
/// there across K.
bool mayTransposeLoads(RankedTensorType operand, const TargetModel &model);

} // namespace mlir::triton::amd

#endif // AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDENCODINGS_H
