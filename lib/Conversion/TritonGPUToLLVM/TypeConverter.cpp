//===-- TypeConverter.cpp - Types of tt and ttg in the LLVM dialect -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/TypeConverter.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

TritonGPUToLLVMTypeConverter::TritonGPUToLLVMTypeConverter(
    MLIRContext *context, const LowerToLLVMOptions &options,
    unsigned sharedAddressSpace)
    : LLVMTypeConverter(context, options),
      sharedAddressSpace(sharedAddressSpace) {
  addConversion([](triton::PointerType type) -> std::optional<Type> {
    return LLVM::LLVMPointerType::get(type.getContext(),
                                      type.getAddressSpace());
  });
  addConversion([](triton::TensorDescType type) -> std::optional<Type> {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  addConversion([](gpu::AsyncTokenType type) -> std::optional<Type> {
    return IntegerType::get(type.getContext(), 32);
  });
  addConversion([this](gpu::MemDescType type) -> std::optional<Type> {
    MLIRContext *ctx = type.getContext();
    // Other memory has addresses of its own, which are numbers.
    if (!isa<gpu::SharedMemorySpaceAttr>(type.getMemorySpace()))
      return IntegerType::get(ctx, 32);
    SmallVector<Type> parts(type.getShape().size() + 1,
                            IntegerType::get(ctx, 32));
    parts[0] = LLVM::LLVMPointerType::get(ctx, this->sharedAddressSpace);
    return LLVM::LLVMStructType::getLiteral(ctx, parts);
  });
  addConversion([this](RankedTensorType type) -> std::optional<Type> {
    if (!type.getEncoding())
      return Type();
    Type element = convertType(type.getElementType());
    if (!element)
      return Type();
    LinearLayout layout = toLinearLayout(type);
    SmallVector<Type> parts(layout.getInDimSize(kRegister), element);
    return LLVM::LLVMStructType::getLiteral(type.getContext(), parts);
  });
  // No unsigned 8-bit float types in registers: they are bytes.
  addConversion([](FloatType type) -> std::optional<Type> {
    if (type.getWidth() == 8)
      return IntegerType::get(type.getContext(), 8);
    return std::nullopt;
  });
}
