//===-- CutVectors.cpp - Vectors of which a mask leaves out a part --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/CutVectors.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

VectorPlan triton::planVectors(const ModuleAxisInfoAnalysis &axisInfo,
                               Value place, Value mask, unsigned whole) {
  VectorPlan plan{whole};
  if (!mask || whole == 1)
    return plan;
  plan.size = std::min(whole, axisInfo.getMaskAlignment(mask));
  if (plan.size == whole)
    return plan;
  unsigned axis =
      gpu::getOrder(cast<RankedTensorType>(place.getType())).front();
  MaskTrend trend = getMaskTrend(axisInfo, mask, axis, whole);
  return trend == MaskTrend::Unknown ? plan : VectorPlan{whole, trend};
}

/// How many vectors share the branch for those that the mask cuts. What the
/// vectors hold stays in registers until the branch.
static constexpr size_t kVectorsPerBranch = 8;

/// Calls `body` with the vectors that share a branch, or with all of them where
/// no branch is needed.
static void forVectorsOfABranch(const VectorPlan &plan, Vectors vectors,
                                function_ref<void(Vectors)> body) {
  size_t most = plan.mayCut() ? kVectorsPerBranch : vectors.size();
  for (; !vectors.empty(); vectors = vectors.drop_front(most)) {
    most = std::min(most, vectors.size());
    body(vectors.take_front(most));
  }
}

namespace {
/// What the mask says about some vectors of a thread, one element for each.
struct VectorMasks {
  /// The mask holds for all elements; null if there is no mask.
  SmallVector<Value> whole;
  /// The mask may hold for some elements of a vector, and not for all. Null if
  /// it cuts no vector.
  Value cut;
};
} // namespace

static VectorMasks getVectorMasks(const LLVMBuilder &b, const VectorPlan &plan,
                                  Vectors vectors, ArrayRef<Value> masks,
                                  Value owner) {
  VectorMasks result;
  for (ArrayRef<int32_t> group : vectors) {
    Value first = masks.empty() ? Value() : masks[group.front()];
    if (!plan.mayCut()) {
      result.whole.push_back(b.andPred(first, owner));
      continue;
    }
    Value last = masks[group.back()], whole, some;
    switch (plan.trend) {
    case MaskTrend::Falling:
      std::tie(whole, some) = {last, first};
      break;
    case MaskTrend::Rising:
      std::tie(whole, some) = {first, last};
      break;
    default: // An interval, which may lie anywhere in the vector.
      whole = b.and_(first, last);
    }
    Value cut = b.andPred(b.andPred(b.not_(whole), some), owner);
    result.cut = result.cut ? b.or_(result.cut, cut) : cut;
    result.whole.push_back(b.andPred(whole, owner));
  }
  return result;
}

/// Calls `visit` for each element of the cut vectors, with its predicate.
static void
forCutElements(const LLVMBuilder &b, ArrayRef<int32_t> group,
               ArrayRef<Value> masks, Value whole,
               function_ref<void(ElementOfVector, Value pred)> visit) {
  Value isCut = b.not_(whole);
  for (auto [i, r] : llvm::enumerate(group))
    visit({group.front(), static_cast<unsigned>(i)}, b.and_(masks[r], isCut));
}

SmallVector<Value> triton::gather(ArrayRef<int32_t> group,
                                  ArrayRef<Value> values) {
  SmallVector<Value> gathered;
  if (!values.empty())
    for (int32_t r : group)
      gathered.push_back(values[r]);
  return gathered;
}

static void scatter(ArrayRef<int32_t> group, MutableArrayRef<Value> results,
                    ArrayRef<Value> values) {
  for (auto [r, value] : llvm::zip_equal(group, values))
    results[r] = value;
}

void triton::loadVectors(
    const LLVMBuilder &b, const VectorPlan &plan, Vectors vectors,
    ArrayRef<Value> masks, Value owner, MutableArrayRef<Value> results,
    function_ref<SmallVector<Value>(ArrayRef<int32_t>, Value)> loadWhole,
    function_ref<Value(ElementOfVector, Value, Value)> loadElement) {
  forVectorsOfABranch(plan, vectors, [&](Vectors vectors) {
    VectorMasks holds = getVectorMasks(b, plan, vectors, masks, owner);
    for (auto [group, pred] : llvm::zip_equal(vectors, holds.whole))
      scatter(group, results, loadWhole(group, pred));
    if (!holds.cut)
      return;
    // Vectors keep narrow elements packed across the branch.
    SmallVector<Value> before;
    for (ArrayRef<int32_t> group : vectors)
      before.push_back(b.packVector(gather(group, results)));
    SmallVector<Value> after = underPredicate(b, holds.cut, before, [&] {
      SmallVector<Value> loaded;
      for (auto [group, whole] : llvm::zip_equal(vectors, holds.whole)) {
        SmallVector<Value> elements;
        forCutElements(
            b, group, masks, whole, [&](ElementOfVector element, Value pred) {
              elements.push_back(
                  loadElement(element, pred, results[element.getRegister()]));
            });
        loaded.push_back(b.packVector(elements));
      }
      return loaded;
    });
    for (auto [group, vector] : llvm::zip_equal(vectors, after))
      scatter(group, results, b.unpackVector(vector));
  });
}

void triton::storeVectors(
    const LLVMBuilder &b, const VectorPlan &plan, Vectors vectors,
    ArrayRef<Value> masks, Value owner,
    function_ref<void(ArrayRef<int32_t>, Value)> storeWhole,
    function_ref<void(ElementOfVector, Value)> storeElement) {
  forVectorsOfABranch(plan, vectors, [&](Vectors vectors) {
    VectorMasks holds = getVectorMasks(b, plan, vectors, masks, owner);
    for (auto [group, pred] : llvm::zip_equal(vectors, holds.whole))
      storeWhole(group, pred);
    if (holds.cut)
      underPredicate(b, holds.cut, [&] {
        for (auto [group, whole] : llvm::zip_equal(vectors, holds.whole))
          forCutElements(b, group, masks, whole, storeElement);
      });
  });
}
