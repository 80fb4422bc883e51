//===-- OperandEncodings.h - Operands in LDS --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDENCODINGS_H
#define AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDENCODINGS_H

#include "amd/TargetModel.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::amd {

/// The dimension along which products with this operand sum.
unsigned getInnerDim(gpu::DotOperandEncodingAttr operand, unsigned rank);

/// The layout in LDS from which lanes read operands of MFMA or WMMA, where a
/// tensor of type `source` is written to it: neighbours of a lane lie together
/// where the source has several of them in a lane. One that rows explain,
/// unless another has fewer bank conflicts. With `pieceBytes`, the source comes
/// in such pieces of memory, which stay together.
Attribute getOperandSharedEncoding(RankedTensorType source,
                                   RankedTensorType operand,
                                   const TargetModel &model,
                                   std::optional<unsigned> pieceBytes = {});

/// Whether lanes read `operand` from LDS by loads that transpose, if it lies
/// there across K.
bool mayTransposeLoads(RankedTensorType operand, const TargetModel &model);

} // namespace mlir::triton::amd

#endif // AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDENCODINGS_H
