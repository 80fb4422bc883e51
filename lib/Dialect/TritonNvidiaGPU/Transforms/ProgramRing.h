//===-- ProgramRing.h - Programs handed to groups of warps ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Groups of warps work on the same programs, each in its own time. One group
// asks the hardware for the next program. All groups read the answer:
//
//   asks:  wait(read[slot], phase ^ 1); expect(asked[slot]); ask
//   reads: wait(asked[slot], phase); read the answer; arrive(read[slot])
//
// There are two slots. So the group that asks is at most one program ahead of
// the others.
//
// The blocks of a cluster ask together: the first one asks, and each block gets
// the answer. So the first block holds the barriers at which answers are handed
// back, for all blocks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_PROGRAMRING_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_PROGRAMRING_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// What an answer of cluster launch control is, in words of 64 bits and in
/// bytes. It is aligned to as many bytes.
inline constexpr int64_t kAnswerWords = 2;
inline constexpr int kAnswerBytes = 16;

/// A buffer of words in shared memory. Each block of a cluster has all of them.
gpu::MemDescType getAnswerType(MLIRContext *context, ArrayRef<int64_t> shape,
                               unsigned numBlocks);

/// The ring as one group of warps sees it.
struct ProgramRing {
  /// Arrays: of answers, of barriers at which they arrive, and of those by
  /// which they are handed back.
  Value answers, asked, read;

  /// Makes a ring for groups that have `numWarps` warps in all. The blocks of a
  /// cluster have waited for each other then.
  static ProgramRing create(OpBuilder &builder, Location loc, int numWarps);

  /// Asks for the program behind the one of this iteration.
  void ask(OpBuilder &builder, Location loc, Value iteration) const;
  /// Waits for the answer, and hands it back.
  Value receive(OpBuilder &builder, Location loc, Value iteration) const;
  /// Ends its life. All answers were received.
  void free(OpBuilder &builder, Location loc) const;
};

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_PROGRAMRING_H
