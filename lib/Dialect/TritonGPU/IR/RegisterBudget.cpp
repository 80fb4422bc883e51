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
  // to 64 registers for each dot), addresses and what the backend needs to
  // schedule are not in what is counted: the rest is for them.
  case RegisterPurpose::InvariantOperands:
    return {3, 8, /*isExclusive=*/true};
  // Gradients of keys and values with heads of 128 spilled 16 bytes on sm_90
  // above it. With reads behind the dots they spill nothing.
  case RegisterPurpose::EarlyReads:
    return {3, 4, /*isExclusive=*/true};
  // Layernorm of 4096 columns on 8 warps: 3,400 GB/s with the 42 registers that
  // ptxas took. It was 3,570 with 40, 3,530 with 36, and 3,250 with 32.
  case RegisterPurpose::MoreBlocks:
    return {4, 5, /*isExclusive=*/true};
  }
  llvm_unreachable("an unknown purpose");
}

/// All needs, in registers, each with what was measured for it.
int64_t mlir::triton::gpu::getRegisterNeed(RegisterNeed need) {
  switch (need) {
  // Attention, whose rows are a constant distance apart: 32 copies of a thread
  // spill nothing with 40.
  case RegisterNeed::Copies:
    return 40;
  // Threads that make 8, 12, 16, 24 and 32 copies, whose rows lie apart by what
  // the launch says, spill nothing with 40, 56, 72, 104 and 120. Of 21 pointer
  // products of fp16 none spills with 32, and 3 for each address; with 104 for
  // all of them 128x128x128 in 2 stages did.
  case RegisterNeed::CopyLoop:
    return 32;
  case RegisterNeed::CopyAddress:
    return 3;
  // 64x128x64 of fp16 on sm_80: ptxas takes 165 registers of the 168 that are
  // stated for it, and 2.75 instructions for each dot instead of 3.09.
  case RegisterNeed::LoopScalars:
    return 8;
  // Not measured by itself. Gradients of attention D64 with 64x64 are within
  // it. With keys and values in registers threads take 218 for 186, and the
  // kernel 1.59 ms instead of 1.615, by PTX.
  case RegisterNeed::BesideOperands:
    return 32;
  // 128x128 on 4 warps, whose results take 128 of the 216 registers that the
  // group has in each of two blocks: 8192x8192x512 by descriptors from 394 to
  // 507 TFLOPS. Fewer than 88 were not measured.
  case RegisterNeed::BesideResults:
    return 72;
  // Attention D64 with 64x64 on 4 warps, whose queries take that many: from 451
  // to 458 TFLOPS. Larger ones were not measured.
  case RegisterNeed::InvariantLeftOperand:
    return 16;
  }
  llvm_unreachable("an unknown need");
}

int64_t mlir::triton::gpu::getRegisterShare(RegisterPurpose purpose,
                                            int64_t registers,
                                            unsigned numWarps) {
  Share share = getShare(purpose, numWarps);
  return (share.numerator * registers - share.isExclusive) / share.denominator;
}

int64_t TargetModel::getBudget(RegisterPurpose purpose,
                               unsigned numThreads) const {
  return getRegisterShare(purpose, getRegistersPerThread(numThreads),
                          numThreads / getThreadsPerWarp());
}
