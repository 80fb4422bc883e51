//===-- TargetModel.cpp - NVIDIA GPUs as passes see them ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TargetModel.h"

#include "TensorMemoryProducts.h"
#include "WarpGroupProducts.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"

#include "mlir/IR/DialectRegistry.h"

#include <vector>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using nvidia::kMmaSync;
using nvidia::kTensorMemory;
using nvidia::kWarpGroup;

static bool isFP8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

ArrayRef<unsigned> nvidia::TargetModel::getAsyncCopySizes() const {
  if (!facts.hasAsyncCopy)
    return {};
  return gpu::TargetModel::getAsyncCopySizes();
}

ArrayRef<const CopyStrategy *> nvidia::TargetModel::getCopyEngines() const {
  static const CopyStrategy *const engines[] = {
      &nvidia_gpu::getBulkTensorCopies()};
  if (!facts.hasTMA)
    return {};
  return engines;
}

/// The first with asynchronous copies also has barriers that they arrive at.
const RingBarriers *nvidia::TargetModel::getRingBarriers() const {
  return facts.hasAsyncCopy ? &nvidia_gpu::getMbarriers() : nullptr;
}

unsigned nvidia::TargetModel::getRegistersPerThread(unsigned numThreads) const {
  unsigned unit = facts.registerAllocationUnit;
  return std::min<unsigned>(facts.maxRegistersPerThread,
                            facts.registersPerSM / numThreads / unit * unit);
}

bool nvidia::TargetModel::hasFloatConversion(Type from, Type to,
                                             RoundingMode rounding) const {
  if (!facts.hasPackedCvt)
    return false;
  bool half = to.isF16() || to.isBF16();
  if (from.isF32() && half)
    return true;
  if (!facts.hasNativeFP8Cvt)
    return false;
  bool wide = from.isF64() || from.isF32() || from.isF16() || from.isBF16();
  if (isFP8(to))
    return wide && rounding == RoundingMode::RTNE;
  return isFP8(from) && (half || to.isF32());
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// The type in which mma.sync multiplies; null where there is none.
static Type getMmaSyncOperandType(const MatrixElementTypes &types,
                                  const NVIDIATarget &facts) {
  auto [a, b, d, precision] = types;
  if (!facts.hasMmaSync)
    return {};
  if (a != b)
    return {};
  if (a.isF16() && (d.isF16() || d.isF32()))
    return a;
  if (a.isBF16() && d.isF32())
    return a;
  if (a.isInteger(8) && d.isInteger(32))
    return a;
  if (a.isF64() && d.isF64())
    return a;
  if (a.isF32() && d.isF32() && precision == InputPrecision::TF32)
    return a;
  return {};
}

/// Whether wgmma multiplies such elements.
static bool takesWarpGroups(const MatrixElementTypes &types) {
  auto [a, b, d, precision] = types;
  if (isFP8(a) && isFP8(b))
    return d.isF32();
  if (a != b)
    return false;
  if (a.isF16())
    return d.isF16() || d.isF32();
  if (a.isBF16())
    return d.isF32();
  if (a.isF32())
    return d.isF32() && precision == InputPrecision::TF32;
  return a.isInteger(8) && d.isInteger(32);
}

/// Whether tcgen05 multiplies such elements: what wgmma does, but sums of 16
/// bits, and integers on some targets.
static bool takesTensorMemory(const MatrixElementTypes &types,
                              const NVIDIATarget &facts) {
  if (types.d.isInteger(32) && !facts.hasIntegerTensorCore)
    return false;
  return !types.d.isF16() && takesWarpGroups(types);
}

SmallVector<MatrixInstruction> nvidia::TargetModel::getMatrixInstructions(
    const MatrixElementTypes &types) const {
  SmallVector<MatrixInstruction> result;
  MatrixInstruction mma;
  mma.name = "mma.sync";
  mma.version = kMmaSync;
  mma.resultType = types.d;
  if (facts.hasMmaSync && isFP8(types.a) && isFP8(types.b) && types.d.isF32()) {
    // The two formats may be mixed; before they came, fp16 held both.
    mma.operandTypes = {types.a, types.b};
    if (!facts.hasFP8Mma)
      mma.operandTypes.fill(Float16Type::get(types.a.getContext()));
  } else if (Type type = getMmaSyncOperandType(types, facts)) {
    mma.operandTypes = {type, type};
  }
  if (mma.operandTypes[0]) {
    mma.m = 16;
    mma.n = 8;
    // Two 32-bit registers (of fp64, two elements) in each of four lanes.
    mma.k = 8 * std::max(1u, 32 / mma.operandTypes[0].getIntOrFloatBitWidth());
    result.push_back(mma);
  }
  // Whether it pays depends on more than the size: it is not the first choice.
  if (facts.hasWGMMA && takesWarpGroups(types)) {
    MatrixInstruction wgmma;
    wgmma.name = "wgmma";
    wgmma.version = kWarpGroup;
    wgmma.operandTypes = {types.a, types.b};
    wgmma.resultType = types.d;
    wgmma.numWarps = 4;
    wgmma.m = 64;
    wgmma.n = 8;
    wgmma.k = 256 / types.a.getIntOrFloatBitWidth();
    wgmma.places.fill(OperandPlace::SharedMemory);
    wgmma.isAsynchronous = true;
    result.push_back(wgmma);
  }
  if (facts.hasTensorMemory && !sumsInRegisters &&
      takesTensorMemory(types, facts)) {
    MatrixInstruction tcgen05;
    tcgen05.name = "tcgen05.mma";
    tcgen05.version = kTensorMemory;
    tcgen05.operandTypes = {types.a, types.b};
    tcgen05.resultType = types.d;
    tcgen05.numWarps = 4;
    tcgen05.m = 64;
    tcgen05.n = 16;
    tcgen05.k = 256 / types.a.getIntOrFloatBitWidth();
    tcgen05.places.fill(OperandPlace::SharedMemory);
    tcgen05.isAsynchronous = true;
    result.push_back(tcgen05);
  }
  return result;
}

bool nvidia::TargetModel::replaceMatrixProduct(
    DotOp dot, const MatrixProduct &product) const {
  // Where they pay, units that read shared memory come first.
  std::optional<MatrixInstruction> group =
      findMatrixInstruction(kWarpGroup, product.types);
  if (group)
    return multiplyByWarpGroups(dot, *group);
  std::optional<MatrixInstruction> tcgen05 =
      findMatrixInstruction(kTensorMemory, product.types);
  return tcgen05 && multiplyInTensorMemory(dot, *tcgen05);
}

bool nvidia::TargetModel::replaceScaledProduct(DotScaledOp dot) const {
  return facts.hasTensorMemory && !sumsInRegisters &&
         multiplyInTensorMemory(dot);
}

MmaEncodingTrait nvidia::TargetModel::getResultEncoding(
    const MatrixInstruction &instruction, const MatrixProduct &product,
    ArrayRef<unsigned> warpsPerCTA, CTALayoutAttr ctaLayout) const {
  assert(instruction.version == kMmaSync &&
         "the others have ways of their own");
  SmallVector<unsigned> instrShape = {instruction.m, instruction.n};
  if (product.shape.size() == 3)
    instrShape.insert(instrShape.begin(), 1);
  return NvidiaMmaEncodingAttr::get(
      instruction.resultType.getContext(), instruction.version,
      /*versionMinor=*/0, warpsPerCTA, ctaLayout, instrShape);
}

LayoutEncodingTrait nvidia::TargetModel::getOperandEncoding(
    const MatrixInstruction &instruction, const MatrixProduct &product,
    unsigned operand, RankedTensorType type, MmaEncodingTrait result) const {
  // Neighbours along the inner dimension that a thread holds together: 32 bits
  // of what is loaded. Four lanes hold two such groups each.
  unsigned bits = std::min(product.loadedBits,
                           instruction.operandTypes[0].getIntOrFloatBitWidth());
  unsigned kWidth = std::min<int64_t>(std::max(1u, 32 / bits), product.k / 8);
  return DotOperandEncodingAttr::get(result.getContext(), operand, result,
                                     kWidth);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

const nvidia::TargetModel *nvidia::TargetModel::get(int computeCapability) {
  static const std::vector<TargetModel> models(getNVIDIATargets().begin(),
                                               getNVIDIATargets().end());
  for (const TargetModel &model : models)
    if (model.facts.computeCapability == computeCapability)
      return &model;
  return nullptr;
}

void nvidia::registerTargetModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TritonGPUDialect *dialect) {
    // Of the operations that the copy engines and dots make.
    context->loadDialect<nvidia_gpu::TritonNvidiaGPUDialect>();
    TargetModels::add(*dialect, "cuda",
                      [](StringRef architecture) -> const gpu::TargetModel * {
                        int computeCapability;
                        if (architecture.getAsInteger(10, computeCapability))
                          return nullptr;
                        return nvidia::TargetModel::get(computeCapability);
                      });
  });
}
