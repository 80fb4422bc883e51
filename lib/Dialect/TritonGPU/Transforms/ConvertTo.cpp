//===-- ConvertTo.cpp - Tensors in other layouts --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

Value gpu::convertTo(OpBuilder &b, Location loc, Value tensor,
                     Attribute layout) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getEncoding() == layout)
    return tensor;
  return ConvertLayoutOp::create(b, loc, cloneWithEncoding(type, layout),
                                 tensor);
}
