//===-- CachePolicy.h - Eviction priorities in the L2 cache -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_CACHEPOLICY_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_CACHEPOLICY_H

#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::nvidia {

/// The last operand of an access: its priority among the lines of the L2 cache.
/// None where that is the normal one, or the target has no other.
class CachePolicy {
public:
  CachePolicy() = default;
  CachePolicy(const LLVMBuilder &b, const NVIDIATarget &facts,
              EvictionPolicy eviction);

  explicit operator bool() const { return bool(policy); }

  /// What the name of the instruction gets.
  StringRef getQualifier() const {
    return policy ? ".L2::cache_hint" : StringRef();
  }

  /// Appends the operand.
  void append(PTXAsm &ptx) const;

private:
  Value policy;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_CACHEPOLICY_H
