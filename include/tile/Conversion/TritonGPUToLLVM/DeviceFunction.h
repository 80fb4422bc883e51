//===-- DeviceFunction.h - Functions of a library of the device -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_DEVICEFUNCTION_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_DEVICEFUNCTION_H

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"

namespace mlir::triton {

/// Calls a pure function, which a library defines that is linked later.
Value callDeviceFunction(const LLVMBuilder &b, StringRef name, Type type,
                         ValueRange args);

/// Computes in f32 for 16-bit floats; otherwise calls `body` as it is.
Value computeInFloat32(const LLVMBuilder &b, Type type, ValueRange args,
                       function_ref<Value(Type, ValueRange)> body);

/// Lowers to the function `name` of f64, to that with an f at its end of
/// everything smaller.
template <typename OpT>
void addDeviceFunction(const LoweringContext &context, StringRef name) {
  addElementwise<OpT>(
      context,
      [name = name.str()](OpT, const LLVMBuilder &b, Type type,
                          ValueRange args) -> Value {
        if (!isa<FloatType>(type))
          return {};
        return computeInFloat32(b, type, args, [&](Type t, ValueRange wide) {
          return callDeviceFunction(b, t.isF64() ? name : name + "f", t, wide);
        });
      });
}

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_DEVICEFUNCTION_H
