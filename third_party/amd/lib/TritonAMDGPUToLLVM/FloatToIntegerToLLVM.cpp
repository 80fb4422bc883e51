//===-- FloatToIntegerToLLVM.cpp - Conversions that saturate --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is out of range becomes the nearest integer, as on other machines;
// LLVM's plain conversions leave it open.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"

using namespace mlir;
using namespace mlir::triton;

template <typename OpT>
static void addSaturating(const LoweringContext &context, StringRef intrinsic) {
  addElementwise<OpT>(context,
                      [intrinsic](OpT, const LLVMBuilder &b, Type type,
                                  ValueRange args) -> Value {
                        Value value = args[0];
                        if (!isa<FloatType>(value.getType()))
                          return {};
                        if (value.getType().isBF16())
                          value = b.fpext(b.getBuilder().getF32Type(), value);
                        return b.intrinsic(type, intrinsic, value);
                      });
}

void amd::populateFloatToIntegerPatterns(const LoweringContext &context) {
  addSaturating<arith::FPToSIOp>(context, "llvm.fptosi.sat");
  addSaturating<arith::FPToUIOp>(context, "llvm.fptoui.sat");
}
