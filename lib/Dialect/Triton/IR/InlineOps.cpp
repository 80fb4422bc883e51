//===-- InlineOps.cpp - Foreign code --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static Speculation::Speculatability getSpeculatabilityOf(bool pure) {
  return pure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

/// Unknown code may do anything.
static void addEffectsOf(bool pure, Effects &effects) {
  if (pure)
    return;
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

//===----------------------------------------------------------------------===//
// ExternElementwiseOp
//===----------------------------------------------------------------------===//

void ExternElementwiseOp::getEffects(Effects &effects) {
  addEffectsOf(getPure(), effects);
}

Speculation::Speculatability ExternElementwiseOp::getSpeculatability() {
  return getSpeculatabilityOf(getPure());
}

//===----------------------------------------------------------------------===//
// ElementwiseInlineAsmOp
//===----------------------------------------------------------------------===//

/// Loads and stores may pass what changes nothing but these.
namespace {
struct CacheContents : public SideEffects::Resource::Base<CacheContents> {
  StringRef getName() final { return "<CacheContents>"; }
};
} // namespace

void ElementwiseInlineAsmOp::getEffects(Effects &effects) {
  if ((*this)->hasAttr(kPrefetchAttr)) {
    effects.emplace_back(MemoryEffects::Write::get(), CacheContents::get());
    return;
  }
  addEffectsOf(getPure(), effects);
}

Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() {
  return getSpeculatabilityOf(getPure());
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("expected at least one result");
  int32_t packed = getPackedElement();
  if (packed <= 0 || !llvm::isPowerOf2_32(packed))
    return emitOpError("expected packed_element to be a power of two, found ")
           << packed;
  auto tensor = dyn_cast<RankedTensorType>(getResult()[0].getType());
  if (packed > 1 && !tensor)
    return emitOpError("expected tensors with packed_element = ")
           << packed << ", found " << getResult()[0].getType();
  if (tensor && tensor.getNumElements() % packed != 0)
    return emitOpError("expected a multiple of packed_element = ")
           << packed << " elements, found " << tensor;
  return success();
}
