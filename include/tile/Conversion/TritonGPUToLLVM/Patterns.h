//===-- Patterns.h - The families of lowering patterns ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A backend's convert-triton-gpu-to-llvm adds the families it wants, and its
// own patterns with a higher benefit where the hardware has something better.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_PATTERNS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_PATTERNS_H

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/TypeConverter.h"

namespace mlir::triton {

class ModuleAxisInfoAnalysis;

/// A pattern that knows the target.
template <typename OpT>
class TargetPattern : public ConvertOpToLLVMPattern<OpT> {
public:
  TargetPattern(const TritonGPUToLLVMTypeConverter &converter,
                const TargetInfo &target, PatternBenefit benefit = 1)
      : ConvertOpToLLVMPattern<OpT>(converter, benefit), target(target) {}

protected:
  /// Fails to match, for a reason that the final diagnostic should name.
  LogicalResult decline(Operation *op, const Twine &reason) const {
    target.getDeclineReasons().add(op->getLoc(), reason);
    return failure();
  }

  /// Of the threads of a block that execute `op`.
  void blockBarrier(const LLVMBuilder &b, Operation *op) const {
    target.barrier(b, getThreadsOfBlock(op));
  }
  /// Of all threads that execute the program.
  void programBarrier(const LLVMBuilder &b, Operation *op) const {
    target.barrier(b, getThreadsOfProgram(op));
  }

  const TritonGPUToLLVMTypeConverter &getConverter() const {
    return *static_cast<const TritonGPUToLLVMTypeConverter *>(
        this->getTypeConverter());
  }
  const TargetInfo &target;
};

/// What every populate function takes.
struct LoweringContext {
  const TritonGPUToLLVMTypeConverter &converter;
  const TargetInfo &target;
  RewritePatternSet &patterns;
  const ModuleAxisInfoAnalysis &axisInfo;
  PatternBenefit benefit = 1;

  template <typename... Patterns> void add() const {
    (patterns.add<Patterns>(converter, target, benefit), ...);
  }
};

void populateElementwisePatterns(const LoweringContext &context);
void populateFloatConversionPatterns(const LoweringContext &context);
void populateInlineAsmPatterns(const LoweringContext &context);
void populateViewPatterns(const LoweringContext &context);
void populateFunctionPatterns(const LoweringContext &context);
void populateProgramPatterns(const LoweringContext &context);
void populateLoadStorePatterns(const LoweringContext &context);
void populateAtomicPatterns(const LoweringContext &context);
void populateMapElementwisePatterns(const LoweringContext &context);
void populateReducePatterns(const LoweringContext &context);
void populateScanPatterns(const LoweringContext &context);
void populateConvertLayoutPatterns(const LoweringContext &context);
void populateLocalMemoryPatterns(const LoweringContext &context);
void populateMemDescPatterns(const LoweringContext &context);
void populateGatherPatterns(const LoweringContext &context);
void populateHistogramPatterns(const LoweringContext &context);
void populateDebugPatterns(const LoweringContext &context);
void populateDotFMAPatterns(const LoweringContext &context);
/// Converts what goes into and comes out of ttg.warp_specialize, which stays.
void populateWarpSpecializePatterns(const LoweringContext &context);

/// Whether a function is launched from the host.
bool isKernel(FunctionOpInterface function);

/// Marks loads that a loop repeats from the same address. A thread that waits
/// for another one's store must not read just once, before the loop. LLVM makes
/// that of a load without other writes around it. To be called before the
/// lowering of functions without structured control flow.
void markRepeatedLoads(FunctionOpInterface function);

/// Declares the array that all of shared memory is addressed from.
void declareSharedMemory(ModuleOp module, unsigned addressSpace);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_PATTERNS_H
