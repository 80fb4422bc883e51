//===-- TargetModel.cpp - AMD GPUs as passes see them ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TargetModel.h"

#include "amd/IR/Dialect.h"
#include "amd/MatrixInstructions.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"

#include "mlir/IR/DialectRegistry.h"

#include <vector>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

const amd::TargetModel *amd::TargetModel::get(StringRef processor) {
  static const std::vector<TargetModel> models(getAMDTargets().begin(),
                                               getAMDTargets().end());
  for (const TargetModel &model : models)
    if (processor == model.facts.processor)
      return &model;
  return nullptr;
}

FailureOr<const amd::TargetModel *> amd::TargetModel::get(ModuleOp module) {
  FailureOr<const AMDTarget *> target = getAMDTarget(module);
  if (failed(target))
    return failure();
  if (int ctas = lookupNumCTAs(module); ctas > 1)
    return emitError(module.getLoc(), "a program of ")
           << ctas << " blocks needs a target with clusters, which "
           << (*target)->targetString() << " lacks";
  if (int threads = lookupThreadsPerWarp(module);
      threads != (*target)->waveSize)
    return emitError(module.getLoc(), "expected \"ttg.threads-per-warp\" = ")
           << (*target)->waveSize << ", the lanes of a wave on "
           << (*target)->targetString() << "; found " << threads;
  return get((*target)->processor);
}

const amd::TargetModel &amd::TargetModel::of(Operation *op) {
  FailureOr<const TargetModel *> model = get(op->getParentOfType<ModuleOp>());
  assert(succeeded(model) && "expected a module for an AMD GPU");
  return **model;
}

ArrayRef<const CopyStrategy *> amd::TargetModel::getCopyEngines() const {
  static const CopyStrategy *const engines[] = {
      &getTensorDataMover(), &getDirectCopies(), &getRegisterCopies()};
  return ArrayRef(engines).drop_front(facts.hasTensorCopies ? 0 : 1);
}

unsigned amd::TargetModel::getRegistersPerThread(unsigned numThreads) const {
  // Of CDNA, those for accumulation count: there is one file for both.
  unsigned most = facts.mfmaVersion ? 512 : 256;
  unsigned all = facts.mfmaVersion ? 128 * 1024 : 192 * 1024;
  return std::min(most, all / numThreads);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

constexpr unsigned kNarrowRows = 4;

SmallVector<MatrixInstruction>
amd::TargetModel::getMatrixInstructions(const MatrixElementTypes &types) const {
  return findMatrixInstructions(types, matrixOptions.rows == kNarrowRows);
}

FailureOr<MatrixInstruction>
amd::TargetModel::selectMatrixInstruction(const MatrixProduct &product,
                                          DeclineReason decline) const {
  std::string reason;
  FailureOr<MatrixInstruction> found =
      gpu::TargetModel::selectMatrixInstruction(
          product, [&](const Twine &why) { reason = why.str(); });
  if (succeeded(found))
    return found;
  if (allowsRows(kNarrowRows))
    for (const MatrixInstruction &narrow :
         findMatrixInstructions(product.types, /*isNarrow=*/true))
      if (fits(product, narrow))
        return narrow;
  // Scalar arithmetic is what nobody has asked for.
  if (matrixOptions.rows)
    return TargetModel(facts, {/*rows=*/0, matrixOptions.kPack})
        .selectMatrixInstruction(product, decline);
  decline(reason);
  return failure();
}

SmallVector<MatrixInstruction>
amd::TargetModel::findMatrixInstructions(const MatrixElementTypes &types,
                                         bool isNarrow) const {
  bool relaxed = types.precision == InputPrecision::TF32;
  std::array<Type, 2> operands = {types.a, types.b};
  auto find = [&](Type a, Type b) {
    auto found = getWaveMatrixInstructions(facts, a, b, types.d, relaxed);
    llvm::erase_if(found, [&](const WaveMatrixInstruction *instruction) {
      return instruction->isNarrow() != isNarrow;
    });
    return found;
  };
  auto found = find(types.a, types.b);
  // Other 8-bit floats are exact in fp16.
  if (found.empty() && types.a.getIntOrFloatBitWidth() == 8 &&
      isa<FloatType>(types.a) && types.d.isF32()) {
    operands.fill(Float16Type::get(types.a.getContext()));
    found = find(operands[0], operands[1]);
  }
  SmallVector<MatrixInstruction> result;
  for (const WaveMatrixInstruction *instruction : found) {
    if (!allowsRows(std::min(instruction->m, instruction->n)))
      continue;
    MatrixInstruction entry;
    entry.name = instruction->intrinsic;
    entry.version = WaveMatrixInstruction::getVersion(facts);
    entry.operandTypes = operands;
    entry.resultType = types.d;
    entry.m = instruction->m;
    entry.n = instruction->n;
    entry.k = instruction->k;
    result.push_back(entry);
  }
  return result;
}

MmaEncodingTrait amd::TargetModel::getResultEncoding(
    const MatrixInstruction &instruction, const MatrixProduct &product,
    ArrayRef<unsigned> warpsPerCTA, CTALayoutAttr ctaLayout) const {
  // Transposed, a lane holds neighbours along N, which memory has together, and
  // the result is laid out as the left operand of another dot. It is the
  // left operand of the machine's instruction that blocks can share.
  bool isTransposed = instruction.m >= instruction.n;
  MLIRContext *context = ctaLayout.getContext();
  SmallVector<unsigned> tilesPerWarp(warpsPerCTA.size(), 1);
  SmallVector<unsigned> shape = {instruction.m, instruction.n, instruction.k};
  if (facts.mfmaVersion)
    return AMDMfmaEncodingAttr::get(
        context, instruction.version, warpsPerCTA, shape, isTransposed,
        ctaLayout, tilesPerWarp,
        /*elementBitWidth=*/instruction.resultType.isF64() ? 64 : 32);
  return AMDWmmaEncodingAttr::get(context, instruction.version,
                                  /*isTransposed=*/true, warpsPerCTA, ctaLayout,
                                  tilesPerWarp, shape);
}

LayoutEncodingTrait amd::TargetModel::getOperandEncoding(
    const MatrixInstruction &instruction, const MatrixProduct &product,
    unsigned operand, RankedTensorType type, MmaEncodingTrait result) const {
  unsigned lanesAlongK = facts.mfmaVersion
                             ? 64 / std::min(instruction.m, instruction.n)
                         : instruction.version == 1 ? 1
                                                    : 2;
  unsigned kWidth = instruction.k / lanesAlongK;
  // No lane takes more than 16 bytes at a time.
  if (facts.mfmaVersion)
    kWidth = std::min(kWidth, 128 / type.getElementTypeBitWidth());
  // From version 3 on, lanes take turns along K.
  if (!facts.mfmaVersion && instruction.version >= 3)
    kWidth = std::min(kWidth, 8u);
  if (product.k >= instruction.k * matrixOptions.kPack && facts.mfmaVersion)
    kWidth *= matrixOptions.kPack;
  return DotOperandEncodingAttr::get(result.getContext(), operand, result,
                                     kWidth);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void amd::registerTargetModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TritonGPUDialect *dialect) {
    // Of the operations that the engines make.
    context->loadDialect<amdgpu::AMDGDialect>();
    TargetModels::add(*dialect, "hip",
                      [](StringRef architecture) -> const gpu::TargetModel * {
                        return amd::TargetModel::get(architecture);
                      });
  });
}
