//===-- TestTargets.cpp - Machines that no neutral pass was written for ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A second backend, as far as the passes before the lowering (which is in
// TestLowering.cpp) see one:
//
//   test:wave64   warps of 64 lanes, 64 banks, copies of 4 bytes only, and a
//                 matrix instruction of its own on fp16
//   test:wave32   warps of 32 lanes, and neither copies nor matrix instructions
//   test:shared   warps of 32, a matrix instruction that four warps execute on
//                 operands in shared memory, as an operation of its own
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

bool multipliesHalves(const MatrixElementTypes &types) {
  return types.a.isF16() && types.b.isF16() && types.d.isF32();
}

class Wave64 : public TargetModel {
  unsigned getThreadsPerWarp() const override { return 64; }
  BankGeometry getSharedMemoryBanks() const override { return {64, 4}; }
  ArrayRef<unsigned> getAsyncCopySizes() const override {
    static constexpr unsigned sizes[] = {4};
    return sizes;
  }

  SmallVector<MatrixInstruction>
  getMatrixInstructions(const MatrixElementTypes &types) const override {
    if (!multipliesHalves(types))
      return {};
    MatrixInstruction large, small;
    large.name = "wave 32x32x8";
    large.operandTypes = {types.a, types.b};
    large.resultType = types.d;
    large.version = 3;
    large.m = large.n = 32;
    large.k = 8;
    small = large;
    small.name = "wave 16x16x16";
    small.m = small.n = small.k = 16;
    return {large, small};
  }
  MmaEncodingTrait getResultEncoding(const MatrixInstruction &instruction,
                                     const MatrixProduct &,
                                     ArrayRef<unsigned> warpsPerCTA,
                                     CTALayoutAttr ctaLayout) const override {
    SmallVector<unsigned> onePerWarp(warpsPerCTA.size(), 1);
    return AMDMfmaEncodingAttr::get(
        ctaLayout.getContext(), instruction.version, warpsPerCTA,
        {instruction.m, instruction.n, instruction.k},
        /*isTransposed=*/false, ctaLayout, onePerWarp, /*elementBitWidth=*/32);
  }
  LayoutEncodingTrait
  getOperandEncoding(const MatrixInstruction &, const MatrixProduct &,
                     unsigned operand, RankedTensorType,
                     MmaEncodingTrait result) const override {
    return DotOperandEncodingAttr::get(result.getContext(), operand, result,
                                       /*kWidth=*/4);
  }
};

class Wave32 : public TargetModel {
  unsigned getThreadsPerWarp() const override { return 32; }
  ArrayRef<unsigned> getAsyncCopySizes() const override { return {}; }
};

class SharedOperands : public TargetModel {
  SmallVector<MatrixInstruction>
  getMatrixInstructions(const MatrixElementTypes &types) const override {
    if (!multipliesHalves(types))
      return {};
    MatrixInstruction instruction;
    instruction.name = "group";
    instruction.operandTypes = {types.a, types.b};
    instruction.resultType = types.d;
    instruction.version = 1;
    instruction.m = 64;
    instruction.n = 16;
    instruction.k = 16;
    instruction.numWarps = 4;
    instruction.places.fill(OperandPlace::SharedMemory);
    return {instruction};
  }
  MmaEncodingTrait getResultEncoding(const MatrixInstruction &instruction,
                                     const MatrixProduct &,
                                     ArrayRef<unsigned> warpsPerCTA,
                                     CTALayoutAttr ctaLayout) const override {
    return NvidiaMmaEncodingAttr::get(
        ctaLayout.getContext(), /*versionMajor=*/3, /*versionMinor=*/0,
        warpsPerCTA, ctaLayout, {16, instruction.n, instruction.k});
  }
  LayoutEncodingTrait
  getOperandEncoding(const MatrixInstruction &, const MatrixProduct &,
                     unsigned operand, RankedTensorType type,
                     MmaEncodingTrait result) const override {
    return NVMMASharedEncodingAttr::get(
        type.getContext(), /*swizzlingByteWidth=*/32, /*transposed=*/false,
        type.getElementTypeBitWidth(), /*fp4Padded=*/false,
        gpu::getCTALayout(type.getEncoding()));
  }
  Value createMatrixProduct(OpBuilder &builder, DotOp dot,
                            const MatrixInstruction &, Value a, Value b,
                            Value c) const override {
    return nvidia_gpu::WarpGroupDotOp::create(
        builder, dot.getLoc(), c.getType(), a, b, c, /*useC=*/Value(),
        dot.getInputPrecision(), dot.getMaxNumImpreciseAcc(),
        /*isAsync=*/false);
  }
};

} // namespace

void registerTileTestTargets(DialectRegistry &registry) {
  registerTileToyTargets(registry);
  registry.addExtension(+[](MLIRContext *context, TritonGPUDialect *dialect) {
    context->loadDialect<nvidia_gpu::TritonNvidiaGPUDialect>();
    TargetModels::add(*dialect, "test",
                      [](StringRef name) -> const TargetModel * {
                        static const Wave64 wave64;
                        static const Wave32 wave32;
                        static const SharedOperands shared;
                        return llvm::StringSwitch<const TargetModel *>(name)
                            .Case("wave64", &wave64)
                            .Case("wave32", &wave32)
                            .Case("shared", &shared)
                            .Default(nullptr);
                      });
  });
}
