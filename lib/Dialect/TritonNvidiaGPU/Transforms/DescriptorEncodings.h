//===-- DescriptorEncodings.h - Layouts of descriptors' blocks --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTORENCODINGS_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTORENCODINGS_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// How blocks of a descriptor lie in shared memory.
struct DescriptorEncoding {
  Attribute encoding;
  /// Whether some use of the blocks asks for it.
  bool isFromUses;
};

/// The encoding for what uses the descriptors. With `forTensorMemory`, dots may
/// add up in tensor memory.
DescriptorEncoding chooseDescriptorEncoding(RankedTensorType block,
                                            ArrayRef<Operation *> users,
                                            unsigned numCTAs,
                                            bool forTensorMemory);

/// The widest swizzle, divided over the cluster as the tensors are that blocks
/// are loaded to or stored from.
Attribute getDefaultDescriptorEncoding(RankedTensorType block,
                                       ArrayRef<Operation *> users,
                                       unsigned numCTAs);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTORENCODINGS_H
