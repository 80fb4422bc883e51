//===-- Patterns.h - What AMD hardware does better --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_PATTERNS_H
#define AMD_TRITONAMDGPUTOLLVM_PATTERNS_H

#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

namespace mlir::triton::amd {

/// These go in with a higher benefit than the target-neutral patterns.
void populateMathPatterns(const LoweringContext &context);
void populateFloatConversionPatterns(const LoweringContext &context,
                                     const TargetInfo &target);
void populateFloatToIntegerPatterns(const LoweringContext &context);
void populateIntegerToFloatPatterns(const LoweringContext &context);
void populateFp4ToFpPatterns(const LoweringContext &context);
void populateDotPatterns(const LoweringContext &context,
                         const TargetInfo &target);
void populateScaledDotPatterns(const LoweringContext &context,
                               const TargetInfo &target);
void populateAsyncCopyPatterns(const LoweringContext &context,
                               const TargetInfo &target);
void populateConvertLayoutPatterns(const LoweringContext &context,
                                   const TargetInfo &target);
void populateBufferPatterns(const LoweringContext &context,
                            const TargetInfo &target);
void populateRegisterPatterns(const LoweringContext &context);
void populateReorderBytesPatterns(const LoweringContext &context);
void populateTensorCopyPatterns(const LoweringContext &context,
                                const TargetInfo &target);
void populateSchedulingPatterns(const LoweringContext &context,
                                const TargetInfo &target);

/// Marks accesses through buffers whose base LLVM may not see to be the same in
/// all lanes, and those whose mask it does see to be. To be called before the
/// lowering.
void markUniformity(ModuleOp module);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_PATTERNS_H
