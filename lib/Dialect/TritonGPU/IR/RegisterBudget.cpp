//===-- RegisterBudget.cpp - What registers may be used for ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

using namespace mlir::triton::gpu;

namespace {
/// A share of the registers that a thread can have.
struct Share {
  int64_t numerator, denominator;
  /// Whether the values must take less than that.
  bool isExclusive = false;
};
} // namespace

/// All shares, each with what was measured for it (bench/NOTES.md has more).
static Share getShare(RegisterPurpose purpose, unsigned numWarps) {
  constexpr unsigned kWarpsPerGroup = 4;
  switch (purpose) {
  // Causal attention D128 with 128x32 on 4 warps spilled 400 bytes above it.
  case RegisterPurpose::KeptFactors:
    return {2, 3};
  // tf32 4096^3 of 128x128x32 on 4 warps, of which two blocks fit: operands
  // that were read early took it from 311 to 282 TFLOPS. 256x128, of which one
  // block fits, gained.
  case RegisterPurpose::SharedMultiprocessor:
    return {2, 3};
  // Attention D128 with 128x128 on 8 warps, by descriptors, which is within it:
  // from 556 to 627 TFLOPS. The limit itself was not measured. Two warp groups
  // and a producer share what there is.
  case RegisterPurpose::LateProducts:
    return numWarps > kWarpsPerGroup ? Share{2, 3} : Share{3, 4};
  // Attention D128 by descriptors, whose threads have 240 registers: a softmax
  // took 872 cycles in place of 932. With the 200 registers that are left
  // beside a producer of pointers it spilled 60 to 196 bytes.
  case RegisterPurpose::TwoFactors:
    return {4, 5};
  // Attention on gfx1100, D64 with 128x64, spilled 91 registers above it, 27
  // where it was kept.
  case RegisterPurpose::LoadsAhead:
    return {2, 3};
  // At first 96 of 255 registers, by no measurement. Operands on their way (up
  // to 64 registers for each product), addresses and what the backend needs to
  // schedule are not in what is counted: the rest is for them.
  case RegisterPurpose::InvariantOperands:
    return {3, 8, /*isExclusive=*/true};
  // Gradients of keys and values with heads of 128 spilled 16 bytes on sm_90
  // above it. With reads behind the products they spill nothing.
  case RegisterPurpose::EarlyReads:
    return {3, 4, /*isExclusive=*/true};
  }
  llvm_unreachable("an unknown purpose");
}

int64_t TargetModel::getBudget(RegisterPurpose purpose,
                               unsigned numThreads) const {
  Share share = getShare(purpose, numThreads / getThreadsPerWarp());
  int64_t registers = getRegistersPerThread(numThreads);
  return (share.numerator * registers - share.isExclusive) / share.denominator;
}
