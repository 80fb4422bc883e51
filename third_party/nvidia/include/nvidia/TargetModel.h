//===-- TargetModel.h - NVIDIA GPUs as passes see them ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TARGETMODEL_H
#define NVIDIA_TARGETMODEL_H

#include "nvidia/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

namespace mlir::triton::nvidia {

/// Versions of matrix instructions, as in `versionMajor` of
/// `#ttg.nvidia_mma`.
inline constexpr unsigned kMmaSync = 2;
inline constexpr unsigned kWarpGroup = 3;
inline constexpr unsigned kTensorMemory = 5;

class TargetModel final : public gpu::TargetModel {
public:
  /// `sumsInRegisters` leaves out instructions that add in tensor memory.
  explicit TargetModel(const NVIDIATarget &facts, bool sumsInRegisters = false)
      : facts(facts), sumsInRegisters(sumsInRegisters) {}

  /// The model of a compute capability; null if the table does not have it.
  static const TargetModel *get(int computeCapability);

  const NVIDIATarget &getFacts() const { return facts; }

  int64_t getMaxSharedMemory() const override { return facts.maxSharedMemory; }
  unsigned getMaxGlobalAccessBits() const override {
    return facts.maxGlobalAccessBits;
  }
  ArrayRef<unsigned> getAsyncCopySizes() const override;
  ArrayRef<const gpu::CopyStrategy *> getCopyEngines() const override;
  const gpu::RingBarriers *getRingBarriers() const override;
  unsigned getRegistersPerThread(unsigned numThreads) const override;
  bool hasFloatConversion(Type from, Type to,
                          RoundingMode rounding) const override;

  SmallVector<gpu::MatrixInstruction>
  getMatrixInstructions(const gpu::MatrixElementTypes &types) const override;
  bool replaceMatrixProduct(DotOp dot,
                            const gpu::MatrixProduct &product) const override;
  bool replaceScaledProduct(DotScaledOp dot) const override;
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
  const NVIDIATarget &facts;
  bool sumsInRegisters;
};

/// Makes the models answer for "cuda:<compute capability>".
void registerTargetModels(DialectRegistry &registry);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGETMODEL_H
