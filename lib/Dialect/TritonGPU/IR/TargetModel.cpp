//===-- TargetModel.cpp - The machine as passes see it --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

TargetModel::~TargetModel() = default;

ArrayRef<unsigned> TargetModel::getAsyncCopySizes() const {
  static constexpr unsigned sizes[] = {4, 8, 16};
  return sizes;
}

unsigned TargetModel::getRegistersPerThread(unsigned numThreads) const {
  return std::min(255u, 65536 / numThreads);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

std::optional<MatrixInstruction>
TargetModel::findMatrixInstruction(unsigned version,
                                   const MatrixElementTypes &types) const {
  for (const MatrixInstruction &instruction : getMatrixInstructions(types))
    if (instruction.version == version &&
        instruction.operandTypes == std::array<Type, 2>{types.a, types.b})
      return instruction;
  return std::nullopt;
}

bool TargetModel::fits(const MatrixProduct &product,
                       const MatrixInstruction &instruction) {
  return product.getM() >= instruction.m && product.getN() >= instruction.n &&
         product.k >= instruction.k &&
         product.numWarps % int(instruction.numWarps) == 0;
}

FailureOr<MatrixInstruction>
TargetModel::selectMatrixInstruction(const MatrixProduct &product,
                                     DeclineReason decline) const {
  SmallVector<MatrixInstruction> candidates =
      getMatrixInstructions(product.types);
  for (const MatrixInstruction &instruction : candidates)
    if (fits(product, instruction))
      return instruction;

  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (candidates.empty()) {
    const MatrixElementTypes &types = product.types;
    os << "the target has no matrix instruction for " << types.a << " * "
       << types.b << " -> " << types.d;
    if (types.a.isF32())
      os << " of input precision " << stringifyInputPrecision(types.precision);
  } else if (const MatrixInstruction &last = candidates.back();
             product.numWarps % int(last.numWarps) != 0) {
    os << last.name << " takes groups of " << last.numWarps
       << " warps, which do not divide " << product.numWarps;
  } else {
    os << "a product of " << product.getM() << " x " << product.getN() << " x "
       << product.k << " is smaller than that of " << last.name << ", "
       << last.m << " x " << last.n << " x " << last.k;
  }
  decline(reason);
  return failure();
}

MmaEncodingTrait TargetModel::getResultEncoding(const MatrixInstruction &,
                                                const MatrixProduct &,
                                                ArrayRef<unsigned>,
                                                CTALayoutAttr) const {
  llvm_unreachable("a model with matrix instructions knows their layouts");
}

LayoutEncodingTrait TargetModel::getOperandEncoding(const MatrixInstruction &,
                                                    const MatrixProduct &,
                                                    unsigned, RankedTensorType,
                                                    MmaEncodingTrait) const {
  llvm_unreachable("a model with matrix instructions knows their layouts");
}

Value TargetModel::createMatrixProduct(OpBuilder &builder, DotOp dot,
                                       const MatrixInstruction &, Value a,
                                       Value b, Value c) const {
  auto result = cast<DotOp>(builder.clone(*dot));
  result.getAMutable().set(a);
  result.getBMutable().set(b);
  result.getCMutable().set(c);
  result.getResult().setType(cast<RankedTensorType>(c.getType()));
  return result;
}

//===----------------------------------------------------------------------===//
// Looking up models
//===----------------------------------------------------------------------===//

void TargetModels::add(TritonGPUDialect &dialect, StringRef kind,
                       Lookup lookup) {
  auto *models = dialect.getRegisteredInterface<TargetModels>();
  if (!models)
    models = &dialect.addInterface<TargetModels>();
  models->lookups[kind] = std::move(lookup);
}

const TargetModel *TargetModels::find(StringRef target) const {
  auto [kind, architecture] = target.split(':');
  auto found = lookups.find(kind);
  return found == lookups.end() ? nullptr : found->second(architecture);
}

const TargetModel &gpu::getTargetModel(MLIRContext *context, StringRef target) {
  static const TargetModel unknown;
  auto *dialect = context->getLoadedDialect<TritonGPUDialect>();
  auto *models =
      dialect ? dialect->getRegisteredInterface<TargetModels>() : nullptr;
  const TargetModel *model = models ? models->find(target) : nullptr;
  return model ? *model : unknown;
}

const TargetModel &gpu::getTargetModel(Operation *op) {
  StringAttr target;
  for (Operation *parent = op; parent && !target;
       parent = parent->getParentOp())
    target = parent->getAttrOfType<StringAttr>(kTargetAttrName);
  return getTargetModel(op->getContext(), target ? target.getValue() : "");
}
