//===-- ChooseTensorCopies.cpp - Descriptors for the tensor data mover ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TensorCopies.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-choose-tensor-copies"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUCHOOSETENSORCOPIES
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

/// LDS that one block may take: there are others, and what else needs it.
constexpr int64_t kMostBytes = 64 * 1024;

/// What keeps blocks of a descriptor from being copied; null: nothing.
static const char *findObstacle(MakeTensorDescOp make) {
  RankedTensorType block = make.getType().getBlockType();
  if (!block.getElementType().isIntOrFloat() || !amd::mayCopyBlocks(block))
    return "its blocks have too many dimensions, or elements of another size";
  if (block.getNumElements() * block.getElementTypeBitWidth() / 8 > kMostBytes)
    return "its blocks are too large";
  if (make.getPadding() != PaddingOption::PAD_ZERO)
    return "what lies outside is not zero";
  if (!matchPattern(make.getStrides().back(), m_One()))
    return "elements of a row are not known to be neighbours";
  return nullptr;
}

/// The same of an access.
static const char *findObstacle(Operation *user, RankedTensorType block,
                                const DataFlowSolver &ranges) {
  RankedTensorType tensor;
  ValueRange indices;
  if (auto load = dyn_cast<DescriptorLoadOp>(user)) {
    tensor = load.getType();
    indices = load.getIndices();
  } else if (auto store = dyn_cast<DescriptorStoreOp>(user)) {
    tensor = store.getSrc().getType();
    indices = store.getIndices();
  } else {
    return "it is not only loaded and stored through";
  }
  if (tensor.getShape() != block.getShape())
    return "a tensor has fewer dimensions than a block";
  for (Value index : indices) {
    auto *range = ranges.lookupState<dataflow::IntegerValueRangeLattice>(index);
    if (!range || !isNonNegative(range->getValue()))
      return "an index may be negative";
  }
  return nullptr;
}

namespace {
struct ChooseTensorCopies
    : amd::impl::TritonAMDGPUChooseTensorCopiesBase<ChooseTensorCopies> {
  void runOnOperation() override {
    SmallVector<MakeTensorDescOp> makes;
    getOperation().walk([&](MakeTensorDescOp make) {
      if (!make.getType().getBlockType().getEncoding())
        makes.push_back(make);
    });
    if (makes.empty())
      return;
    DataFlowSolver ranges;
    ranges.load<dataflow::DeadCodeAnalysis>();
    ranges.load<dataflow::SparseConstantPropagation>();
    ranges.load<ValueRangeAnalysis>(ValueRangeAnalysis::Overflow::NeverHappens);
    if (failed(ranges.initializeAndRun(getOperation())))
      return signalPassFailure();
    for (MakeTensorDescOp make : makes) {
      RankedTensorType block = make.getType().getBlockType();
      const char *obstacle = findObstacle(make);
      for (Operation *user : make->getUsers())
        if (!obstacle)
          obstacle = findObstacle(user, block, ranges);
      if (obstacle) {
        LDBG() << make << " keeps to pointers: " << obstacle;
        continue;
      }
      auto type =
          RankedTensorType::get(block.getShape(), block.getElementType(),
                                amd::getTensorBufferEncoding(block));
      make.getResult().setType(TensorDescType::get(type));
      ++numChosen;
    }
  }
};
} // namespace
