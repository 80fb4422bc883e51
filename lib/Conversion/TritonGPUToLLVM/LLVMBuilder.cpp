//===-- LLVMBuilder.cpp - Shorthand for making LLVM-dialect ops -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

using namespace mlir;
using namespace mlir::triton;

Value LLVMBuilder::packVector(ArrayRef<Value> values) const {
  if (values.size() == 1)
    return values.front();
  Value vector = undef(vecTy(values.front().getType(), values.size()));
  for (auto [i, value] : llvm::enumerate(values))
    vector = insertElem(vector, value, i);
  return vector;
}

SmallVector<Value> LLVMBuilder::unpackVector(Value vector) const {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return {vector};
  SmallVector<Value> values;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    values.push_back(extractElem(vector, i));
  return values;
}

Value LLVMBuilder::gep(Value base, Type element, Value index,
                       bool inbounds) const {
  auto flags =
      inbounds ? LLVM::GEPNoWrapFlags::inbounds : LLVM::GEPNoWrapFlags::none;
  return create<LLVM::GEPOp>(base.getType(), element, base, ValueRange{index},
                             flags);
}

Value LLVMBuilder::gep(Value base, Type element, int64_t index) const {
  if (index == 0)
    return base;
  return create<LLVM::GEPOp>(
      base.getType(), element, base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value LLVMBuilder::intrinsic(Type result, StringRef name,
                             ValueRange args) const {
  auto op =
      result ? create<LLVM::CallIntrinsicOp>(result,
                                             builder.getStringAttr(name), args)
             : create<LLVM::CallIntrinsicOp>(builder.getStringAttr(name), args);
  return op->getNumResults() ? op->getResult(0) : Value();
}
