//===-- TargetModel.h - AMD GPUs as passes see them -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TARGETMODEL_H
#define AMD_TARGETMODEL_H

#include "amd/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

namespace mlir::triton::amd {

class TargetModel final : public gpu::TargetModel {
public:
  /// What users may ask for: instructions of so many rows, where one of them
  /// fits (0 for any; 4 are narrow ones). Then operands with `kPack` times as
  /// many neighbours along K in a lane.
  struct MatrixOptions {
    unsigned rows = 0;
    unsigned kPack = 1;
  };

  explicit TargetModel(const AMDTarget &facts) : TargetModel(facts, {}) {}
  TargetModel(const AMDTarget &facts, MatrixOptions matrixOptions)
      : facts(facts), matrixOptions(matrixOptions) {}

  /// The model of a processor; null if the table does not have it.
  static const TargetModel *get(StringRef processor);
  /// The model of the module's target. Emits an error where there is no such
  /// target, or the module asks for what none of them has.
  static FailureOr<const TargetModel *> get(ModuleOp module);
  /// The model of an operation that is known to be compiled for one of these.
  static const TargetModel &of(Operation *op);

  const AMDTarget &getFacts() const { return facts; }
  /// Whether users want instructions of so many rows.
  bool allowsRows(unsigned rows) const {
    return !matrixOptions.rows || matrixOptions.rows == rows;
  }

  unsigned getThreadsPerWarp() const override { return facts.waveSize; }
  BankGeometry getSharedMemoryBanks() const override {
    return {static_cast<unsigned>(facts.sharedMemoryBanks), 4};
  }
  int64_t getMaxSharedMemory() const override { return facts.maxSharedMemory; }
  unsigned getRegistersPerThread(unsigned numThreads) const override;
  /// Loads travel through registers.
  ArrayRef<unsigned> getAsyncCopySizes() const override { return {}; }
  ArrayRef<const gpu::CopyStrategy *> getCopyEngines() const override;

  SmallVector<gpu::MatrixInstruction>
  getMatrixInstructions(const gpu::MatrixElementTypes &types) const override;
  /// Dots with fewer than 16 rows or columns take narrow instructions. Those
  /// that no instruction of as many rows as wanted fits take another one.
  FailureOr<gpu::MatrixInstruction>
  selectMatrixInstruction(const gpu::MatrixProduct &product,
                          gpu::DeclineReason decline) const override;
  gpu::MmaEncodingTrait
  getResultEncoding(const gpu::MatrixInstruction &instruction,
                    const gpu::MatrixProduct &product,
                    ArrayRef<unsigned> warpsPerCTA,
                    gpu::CTALayoutAttr ctaLayout) const override;
  gpu::LayoutEncodingTrait
  getOperandEncoding(const gpu::MatrixInstruction &instruction,
                     const gpu::MatrixProduct &product, unsigned operand,
                     RankedTensorType type,
                     gpu::MmaEncodingTrait result) const override;
  std::optional<gpu::ScaledMatrixLayouts>
  getScaledMatrixLayouts(DotScaledOp dot) const override;

private:
  /// Those that are narrow, or those that are not.
  SmallVector<gpu::MatrixInstruction>
  findMatrixInstructions(const gpu::MatrixElementTypes &types,
                         bool isNarrow) const;

  const AMDTarget &facts;
  MatrixOptions matrixOptions;
};

/// Makes the models answer for "hip:<processor>".
void registerTargetModels(DialectRegistry &registry);

} // namespace mlir::triton::amd

#endif // AMD_TARGETMODEL_H
