//===-- Patterns.h - What NVIDIA hardware does better -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_PATTERNS_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_PATTERNS_H

#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

namespace mlir::triton::nvidia {

/// These go in with a higher benefit than the target-neutral patterns.
void populateMathPatterns(const LoweringContext &context,
                          const TargetInfo &target);

void populateFloatConversionPatterns(const LoweringContext &context,
                                     const TargetInfo &target);
void populateExp2Patterns(const LoweringContext &context);
void populateFp4ToFpPatterns(const LoweringContext &context);
void populateAsyncCopyPatterns(const LoweringContext &context,
                               const TargetInfo &target);
void populateDotPatterns(const LoweringContext &context,
                         const TargetInfo &target);
void populateDotScaledPatterns(const LoweringContext &context,
                               const TargetInfo &target);
void populateWarpGroupDotPatterns(const LoweringContext &context,
                                  const TargetInfo &target);
/// `blocksMeet`: blocks of the cluster arrive at barriers of each other, so
/// that who waits there sees what they have written.
void populateBarrierPatterns(const LoweringContext &context,
                             const TargetInfo &target, bool blocksMeet);
void populateClusterLaunchControlPatterns(const LoweringContext &context);
void populateTMAPatterns(const LoweringContext &context,
                         const TargetInfo &target);

/// True in the first of the threads that execute `op` together: the one that
/// acts for all of them on barriers and with TMA.
Value emitFirstThread(const LLVMBuilder &b, const triton::TargetInfo &target,
                      Operation *op);
/// The address of a whole buffer, `original`, that was converted.
Value getBufferAddress(const LLVMBuilder &b, Value converted, Value original);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_PATTERNS_H
