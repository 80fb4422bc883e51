//===-- LayoutInterfaces.h - ttg's answers about layouts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The dialect interfaces through which the tt dialect learns what its
// operations do to the encodings of this dialect.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TRITONGPU_IR_LAYOUTINTERFACES_H
#define TILE_LIB_TRITONGPU_IR_LAYOUTINTERFACES_H

#include "tile/Dialect/Triton/IR/Interfaces.h"

namespace mlir::triton::gpu {

class TritonGPUInferLayout : public DialectInferLayoutInterface {
public:
  using DialectInferLayoutInterface::DialectInferLayoutInterface;

  FailureOr<Attribute>
  inferReduceLayout(Attribute src, unsigned axis,
                    std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferReduceOperandLayout(Attribute result, unsigned axis,
                           std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferExpandDimsLayout(Attribute src, unsigned axis,
                        std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferTransLayout(Attribute src, ArrayRef<int64_t> shape,
                   ArrayRef<int32_t> order,
                   std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferReshapeLayout(Attribute src, ArrayRef<int64_t> srcShape,
                     ArrayRef<int64_t> dstShape,
                     std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferJoinLayout(Attribute src, ArrayRef<int64_t> shape,
                  std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferSplitLayout(Attribute src, ArrayRef<int64_t> shape,
                   std::optional<Location> loc) const override;
  FailureOr<Attribute>
  inferCatLayout(Attribute src, ArrayRef<int64_t> shape,
                 std::optional<Location> loc) const override;
  LogicalResult verifyDotLayouts(Operation *op, Attribute a, Attribute b,
                                 Attribute result) const override;
  LogicalResult
  verifyLayoutsAreEquivalent(ArrayRef<int64_t> shape, Attribute expected,
                             Attribute found,
                             std::optional<Location> loc) const override;
};

class TritonGPUVerifyTensorLayout : public DialectVerifyTensorLayoutInterface {
public:
  using DialectVerifyTensorLayoutInterface::DialectVerifyTensorLayoutInterface;

  LogicalResult
  verifyTensorLayout(Attribute layout, RankedTensorType type, Operation *op,
                     function_ref<InFlightDiagnostic()> makeErr) const override;
};

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_IR_LAYOUTINTERFACES_H
