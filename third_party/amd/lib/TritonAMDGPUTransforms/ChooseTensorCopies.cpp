//===-- ChooseTensorCopies.cpp - Descriptors for the tensor data mover ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TensorCopies.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/DescriptorArguments.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// The function that the host passes `descriptor` to, if it does.
static FuncOp getFunctionOfArgument(Value descriptor) {
  auto argument = dyn_cast<BlockArgument>(descriptor);
  auto function = argument
                      ? dyn_cast<FuncOp>(argument.getOwner()->getParentOp())
                      : FuncOp();
  return function && function.isPublic() ? function : FuncOp();
}

/// What keeps blocks from being copied because of how the descriptor is made;
/// null: nothing.
static const char *findObstacle(Value descriptor, RankedTensorType block) {
  if (auto make = descriptor.getDefiningOp<MakeTensorDescOp>()) {
    if (make.getPadding() != PaddingOption::PAD_ZERO)
      return "what lies outside is not zero";
    if (!matchPattern(make.getStrides().back(), m_One()))
      return "elements of a row are not known to be neighbours";
    return nullptr;
  }
  // The elements of a row of the host's are neighbours.
  FuncOp function = getFunctionOfArgument(descriptor);
  if (!function)
    return "it comes from another function, or a loop";
  if (function.getArgAttr(cast<BlockArgument>(descriptor).getArgNumber(),
                          kRoundsToTF32AttrName))
    return "loads round, and copies do not";
  if (block.getElementType().isInteger() ||
      function.getArgAttr(cast<BlockArgument>(descriptor).getArgNumber(),
                          kZeroPaddedAttrName))
    return nullptr;
  return "what lies outside is not known to be zero";
}

/// The same because of its blocks.
static const char *findObstacle(RankedTensorType block) {
  if (!block.getElementType().isIntOrFloat() || !amd::mayCopyBlocks(block))
    return "its blocks have too many dimensions, or elements of another size";
  if (block.getNumElements() * block.getElementTypeBitWidth() / 8 > kMostBytes)
    return "its blocks are too large";
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

/// Why blocks of a descriptor are not copied.
static const char *findObstacle(Value descriptor,
                                const DataFlowSolver &ranges) {
  RankedTensorType block =
      cast<TensorDescType>(descriptor.getType()).getBlockType();
  const char *obstacle = findObstacle(block);
  if (!obstacle)
    obstacle = findObstacle(descriptor, block);
  for (Operation *user : descriptor.getUsers())
    if (!obstacle)
      obstacle = findObstacle(user, block, ranges);
  return obstacle;
}

/// Has the kernel make a descriptor of type `type` of the parts that the host
/// passes for it.
static void makeFromParts(FuncOp function, BlockArgument argument,
                          TensorDescType type) {
  Location loc = argument.getLoc();
  SmallVector<Type> types = getPartTypes(type);
  unsigned place = argument.getArgNumber(), rank = (types.size() - 2) / 2;
  SmallVector<unsigned> places(types.size(), place + 1);
  SmallVector<Location> locs(types.size(), loc);
  [[maybe_unused]] LogicalResult inserted =
      function.insertArguments(places, types, /*argAttrs=*/{}, locs);
  assert(succeeded(inserted) && "expected the parts of a descriptor");
  OpBuilder b = OpBuilder::atBlockBegin(argument.getOwner());
  ValueRange parts = function.getArguments().slice(place + 1, types.size());
  SmallVector<Value> strides(parts.slice(1 + rank, rank));
  strides.back() = arith::ConstantIntOp::create(b, loc, 1, 64);
  argument.replaceAllUsesWith(MakeTensorDescOp::create(
      b, loc, type, parts.front(), parts.slice(1, rank), strides,
      PaddingOption::PAD_ZERO));
  [[maybe_unused]] LogicalResult erased = function.eraseArgument(place);
  assert(succeeded(erased) && "expected the argument of a kernel");
}

namespace {
struct ChooseTensorCopies
    : amd::impl::TritonAMDGPUChooseTensorCopiesBase<ChooseTensorCopies> {
  void runOnOperation() override {
    SmallVector<Value> descriptors = findDescriptors();
    if (descriptors.empty())
      return;
    DataFlowSolver ranges;
    ranges.load<dataflow::DeadCodeAnalysis>();
    ranges.load<dataflow::SparseConstantPropagation>();
    ranges.load<ValueRangeAnalysis>(ValueRangeAnalysis::Overflow::NeverHappens);
    if (failed(ranges.initializeAndRun(getOperation())))
      return signalPassFailure();
    llvm::erase_if(descriptors, [&](Value descriptor) {
      const char *obstacle = findObstacle(descriptor, ranges);
      if (obstacle)
        LDBG() << descriptor << " keeps to pointers: " << obstacle;
      return obstacle;
    });
    numChosen += descriptors.size();
    for (Value descriptor : descriptors)
      choose(descriptor);
  }

private:
  /// Those without a layout, that a kernel makes or takes.
  SmallVector<Value> findDescriptors() {
    SmallVector<Value> descriptors;
    auto add = [&](Value value) {
      auto type = dyn_cast<TensorDescType>(value.getType());
      if (type && !type.getBlockType().getEncoding())
        descriptors.push_back(value);
    };
    getOperation().walk([&](Operation *op) {
      if (auto function = dyn_cast<FuncOp>(op);
          function && !function.isExternal())
        llvm::for_each(function.getArguments(), add);
      else if (isa<MakeTensorDescOp>(op))
        add(op->getResult(0));
    });
    return descriptors;
  }

  static void choose(Value descriptor) {
    RankedTensorType block =
        cast<TensorDescType>(descriptor.getType()).getBlockType();
    auto type = TensorDescType::get(
        RankedTensorType::get(block.getShape(), block.getElementType(),
                              amd::getTensorBufferEncoding(block)));
    if (FuncOp function = getFunctionOfArgument(descriptor))
      makeFromParts(function, cast<BlockArgument>(descriptor), type);
    else
      descriptor.setType(type);
  }
};
} // namespace
