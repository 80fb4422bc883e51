//===-- DescriptorObstacles.cpp - What TMA cannot do ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DescriptorObstacles.h"

#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

bool nvidia_gpu::isOfLaunch(MakeTensorDescOp op) {
  return op && op->hasAttr(kOfArgumentsAttrName);
}

FunctionOpInterface nvidia_gpu::getFunctionOfArgument(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg ? dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp())
             : FunctionOpInterface();
}

namespace {

/// One thread starts a copy for each box of a block.
constexpr size_t kMostBoxes = 16;
/// What the addresses and strides that TMA takes are multiples of, in bytes.
constexpr int64_t kTMAAlignment = 16;

/// What TMA asks of a tensor and of the blocks that it copies, in bytes.
struct TMAAlignment {
  int64_t address = kTMAAlignment; ///< and strides
  int64_t row = kTMAAlignment;     ///< and where a block starts in one

  /// Padded 4-bit numbers are copied 128 at a time.
  explicit TMAAlignment(RankedTensorType block) {
    if (getTMAPacking(block) == 1)
      return;
    address = 32;
    row = 64;
  }
};

using Obstacle = std::optional<std::string>;

/// The codes of types from this one on are of floats.
constexpr int32_t kFirstFloat = 6;

/// Why TMA cannot use a descriptor that is made like this, because of what is
/// not known of its numbers.
Obstacle findObstacleInNumbers(MakeTensorDescOp op,
                               const TMAAlignment &alignment,
                               const ModuleAxisInfoAnalysis &axisInfo,
                               ValueRanges &ranges) {
  auto getDivisor = [&](Value value) -> int64_t {
    const AxisInfo *info = axisInfo.getAxisInfo(value);
    return info && info->isInitialized() ? info->getDivisibilityOfAll() : 1;
  };
  auto isMultiple = [&](Value value, int64_t bytes, int64_t divisor) {
    return getDivisor(value) % divisor * bytes % divisor == 0;
  };
  if (!isMultiple(op.getBase(), 1, alignment.address))
    return "its base is not known to be a multiple of " +
           std::to_string(alignment.address) + " bytes";
  int64_t bytes = op.getType().getBlockType().getElementTypeBitWidth() / 8;
  for (Value stride : op.getStrides().drop_back())
    if (!isMultiple(stride, bytes, alignment.address))
      return "its strides are not known to be multiples of " +
             std::to_string(alignment.address) + " bytes";
  if (llvm::any_of(op.getStrides(),
                   [&](Value stride) { return !ranges.isNonNegative(stride); }))
    return "its strides may be negative";
  // What lies out of bounds is told apart in pieces of 16 bytes: of a piece
  // that the bound cuts, stores write the rest, too.
  if (!isMultiple(op.getShape().back(), bytes, alignment.row))
    return "its rows are not known to be multiples of " +
           std::to_string(alignment.row) + " bytes";
  return std::nullopt;
}

/// Why TMA cannot use a descriptor that is made like this, whatever its numbers
/// are.
Obstacle findObstacle(MakeTensorDescOp op,
                      const ModuleAxisInfoAnalysis &axisInfo) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function.isPublic())
    return "it is made in a function that is called";
  const AxisInfo *last = axisInfo.getAxisInfo(op.getStrides().back());
  if (!last || last->getConstantValue() != 1)
    return "its last stride is not known to be one";
  FailureOr<int32_t> code = getTMAElementType(op.getType().getBlockType());
  if (failed(code))
    return "TMA does not know its elements";
  if (op.getPadding() == PaddingOption::PAD_NAN && *code < kFirstFloat)
    return "TMA does not know the NaNs of its elements";
  return std::nullopt;
}

/// The coordinates of the block that `op` accesses.
ValueRange getIndices(Operation *op) {
  return llvm::TypeSwitch<Operation *, ValueRange>(op)
      .Case<DescriptorLoadOp, DescriptorStoreOp, DescriptorReduceOp>(
          [](auto op) { return ValueRange(op.getIndices()); })
      .Default([](Operation *) { return ValueRange(); });
}

/// Why TMA cannot be used for all accesses through a descriptor.
Obstacle findObstacle(ArrayRef<Operation *> users,
                      const TMAAlignment &alignment,
                      const ModuleAxisInfoAnalysis &axisInfo,
                      ValueRanges &ranges, StoresBegin begin) {
  for (Operation *user : users) {
    // The pieces again: a bound must not cut one.
    if (ValueRange indices = getIndices(user); !indices.empty()) {
      auto desc = cast<TensorDescType>(user->getOperand(0).getType());
      int64_t bytes = desc.getElementType().getIntOrFloatBitWidth() / 8;
      const AxisInfo *info = axisInfo.getAxisInfo(indices.back());
      int64_t divisor =
          info && info->isInitialized() ? info->getDivisibilityOfAll() : 1;
      if (divisor % alignment.row * bytes % alignment.row != 0)
        return "a block of it is not known to start at a multiple of " +
               std::to_string(alignment.row) + " bytes";
      // Loads may start there; what stores does so by an illegal instruction.
      if (begin == StoresBegin::Anywhere && !isa<DescriptorLoadOp>(user) &&
          llvm::any_of(indices, [&](Value index) {
            return !ranges.isNonNegative(index);
          }))
        return "a block that it stores may start before it";
    }
    if (isa<DescriptorGatherOp, DescriptorScatterOp>(user))
      return "it is used to gather or scatter rows";
    auto reduce = dyn_cast<DescriptorReduceOp>(user);
    if (!reduce)
      continue;
    // Of NaNs and of 64-bit numbers TMA says too little.
    Type element = reduce.getDesc().getType().getElementType();
    bool isOrdered = isa<FloatType>(element) &&
                     reduce.getKind() != DescriptorReduceKind::ADD;
    if (element.getIntOrFloatBitWidth() > 32 || isOrdered ||
        !isTMAReduction(reduce.getKind(), element))
      return "TMA does not have its reductions";
  }
  return std::nullopt;
}

/// True if the host made all descriptors, or if some access is repeated in a
/// loop that makes none of them. To make one takes as long as a small copy.
bool isWorthItsMap(ArrayRef<Operation *> users, ArrayRef<Operation *> makes) {
  if (makes.empty())
    return true;
  return llvm::any_of(users, [&](Operation *user) {
    if (!isa<DescriptorLoadOp, DescriptorStoreOp, DescriptorReduceOp>(user))
      return false;
    for (auto loop = user->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      if (llvm::none_of(
              makes, [&](Operation *make) { return loop->isAncestor(make); }))
        return true;
    return false;
  });
}

/// Whether each block of a cluster needs one part of the loaded tile that the
/// copy engine can write, or all of it: dots are divided along their rows.
bool isDividedForProducts(Value loaded, unsigned numCTAs) {
  constexpr int64_t kWidestRow = 128; // of a swizzle, in bytes
  auto type = cast<RankedTensorType>(loaded.getType());
  int64_t rowBytes = type.getShape().back() * type.getElementTypeBitWidth() / 8;
  for (OpOperand &use : loaded.getUses()) {
    Operation *user = use.getOwner();
    bool isTurned = isa<TransOp>(user);
    SmallVector<OpOperand *> uses{&use};
    if (isTurned) {
      uses.clear();
      for (OpOperand &turned : user->getResult(0).getUses())
        uses.push_back(&turned);
    }
    for (OpOperand *operand : uses) {
      auto dot = dyn_cast<DotOp>(operand->getOwner());
      if (!dot || operand->getOperandNumber() > 1)
        return false;
      // Parts of rows are narrower.
      if (isTurned && operand->getOperandNumber() == 0 &&
          rowBytes / numCTAs % kWidestRow != 0)
        return false;
    }
  }
  return true;
}

/// Why the blocks of a cluster cannot copy what they need.
Obstacle findObstacleOfCluster(ArrayRef<Operation *> users,
                               RankedTensorType block, unsigned numCTAs) {
  if (numCTAs == 1)
    return std::nullopt;
  constexpr int64_t kRowsOfSwizzle = 8;
  constexpr unsigned kMostBlocks = 4;
  if (numCTAs > kMostBlocks || block.getRank() != 2 ||
      block.getDimSize(0) < numCTAs * kRowsOfSwizzle)
    return "more than four blocks of a cluster, or no parts of a matrix, would "
           "have to copy it";
  for (Operation *user : users)
    if (auto load = dyn_cast<DescriptorLoadOp>(user))
      if (!isDividedForProducts(load.getResult(), numCTAs))
        return "blocks of a cluster would copy it for more than the operand of "
               "a product";
  return std::nullopt;
}

} // namespace

Obstacle nvidia_gpu::findObstacleForTMA(const DescriptorClass &descriptors,
                                        RankedTensorType block,
                                        const ModuleAxisInfoAnalysis &axisInfo,
                                        ValueRanges &ranges, unsigned numCTAs,
                                        StoresBegin begin) {
  ArrayRef<Value> members = descriptors.members;
  ArrayRef<Operation *> users = descriptors.users;
  SmallVector<Operation *> makes;
  TMAAlignment alignment(block);
  for (Value member : members) {
    if (auto function = getFunctionOfArgument(member)) {
      if (!function.isPublic())
        return "it is passed to a function that is called";
      if (failed(getTMAElementType(block)))
        return "TMA does not know its elements";
    }
    if (member.getDefiningOp<CallOpInterface>())
      return "it is the result of a call";
    auto make = member.getDefiningOp<MakeTensorDescOp>();
    if (!make || isOfLaunch(make))
      continue;
    makes.push_back(make);
    if (Obstacle obstacle = findObstacle(make, axisInfo))
      return obstacle;
    if (Obstacle obstacle =
            findObstacleInNumbers(make, alignment, axisInfo, ranges))
      return obstacle;
  }
  if (Obstacle obstacle =
          findObstacle(users, alignment, axisInfo, ranges, begin))
    return obstacle;
  if (Obstacle obstacle = findObstacleOfCluster(users, block, numCTAs))
    return obstacle;
  // A loop has one place for what it makes: no iteration can use that of the
  // one before.
  for (Operation *make : makes)
    for (Value member : members)
      if (auto arg = dyn_cast<BlockArgument>(member);
          arg && isa<LoopLikeOpInterface>(arg.getOwner()->getParentOp()) &&
          arg.getOwner()->getParentOp()->isAncestor(make))
        return "it goes from one iteration to the next";
  constexpr int64_t kMaxRank = 5;
  if (block.getRank() > kMaxRank)
    return "it has more than five dimensions";
  std::optional<SmallVector<TMABox>> boxes = getTMABoxes(block);
  if (!boxes || boxes->size() > kMostBoxes)
    return "its blocks would take too many copies";
  if (!isWorthItsMap(users, makes))
    return "it is used only once";
  return std::nullopt;
}

bool nvidia_gpu::hasObstacleInNumbersAlone(
    MakeTensorDescOp make, ArrayRef<Operation *> users, RankedTensorType block,
    const ModuleAxisInfoAnalysis &axisInfo, ValueRanges &ranges) {
  TMAAlignment alignment(block);
  std::optional<SmallVector<TMABox>> boxes = getTMABoxes(block);
  return boxes && boxes->size() <= kMostBoxes &&
         !findObstacle(make, axisInfo) &&
         !findObstacle(users, alignment, axisInfo, ranges,
                       StoresBegin::Anywhere) &&
         findObstacleInNumbers(make, alignment, axisInfo, ranges);
}
