//===-- DeviceFunction.cpp - Functions of a library of the device ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/DeviceFunction.h"

using namespace mlir;
using namespace mlir::triton;

Value triton::callDeviceFunction(const LLVMBuilder &b, StringRef name,
                                 Type type, ValueRange args) {
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b.getBuilder());
    b.getBuilder().setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        b.getBuilder(), UnknownLoc::get(b.getContext()), name,
        LLVM::LLVMFunctionType::get(type, llvm::to_vector(args.getTypes())));
  }
  return b.create<LLVM::CallOp>(function, args).getResult();
}

Value triton::computeInFloat32(const LLVMBuilder &b, Type type, ValueRange args,
                               function_ref<Value(Type, ValueRange)> body) {
  if (!type.isF16() && !type.isBF16())
    return body(type, args);
  Type f32 = b.getBuilder().getF32Type();
  SmallVector<Value> wide;
  for (Value arg : args)
    wide.push_back(b.fpext(f32, arg));
  Value result = body(f32, wide);
  return result ? b.fptrunc(type, result) : result;
}
