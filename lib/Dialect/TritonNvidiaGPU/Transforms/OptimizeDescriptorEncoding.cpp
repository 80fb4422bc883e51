//===-- OptimizeDescriptorEncoding.cpp - Layouts of descriptors' blocks ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptor values that may be the same at run time form a class. Each class
// is given one encoding, and with it the values, functions and results get new
// types.
//
//===----------------------------------------------------------------------===//

#include "UnpackDescriptorArgument.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PixelDescriptors.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/ForwardedValues.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PackedScales.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-optimize-descriptor-encoding"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAOPTIMIZEDESCRIPTORENCODING
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

bool isDescriptor(Value value) { return isa<TensorDescType>(value.getType()); }

/// The values of a module that descriptors pass between.
class DescriptorClasses {
public:
  explicit DescriptorClasses(ModuleOp module) {
    SymbolTableCollection symbols;
    // In program order, arguments of a block before its operations.
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        add(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            add(argument);
      connect(op, symbols);
    });
  }

  /// The members of all classes, each class and its members in program order.
  SmallVector<SmallVector<Value>> get() const {
    llvm::MapVector<Value, SmallVector<Value>> members;
    for (Value value : order)
      members[classes.getLeaderValue(value)].push_back(value);
    return llvm::map_to_vector(std::move(members),
                               [](auto &entry) { return entry.second; });
  }

private:
  void add(Value value) {
    if (!isDescriptor(value) || !seen.insert(value).second)
      return;
    classes.insert(value);
    order.push_back(value);
  }

  void unite(ValueRange from, ValueRange to) {
    for (auto [f, t] : llvm::zip(from, to))
      if (isDescriptor(f) && isDescriptor(t))
        classes.unionSets(f, t);
  }

  void connect(Operation *op, SymbolTableCollection &symbols) {
    forEachForwarded(op,
                     [&](ValueRange from, ValueRange to) { unite(from, to); });
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&symbols));
      if (callee && !callee.isExternal()) {
        unite(call.getArgOperands(), callee.getArguments());
        for (Block &block : callee.getFunctionBody())
          if (Operation *terminator = block.getTerminator();
              terminator->hasTrait<mlir::OpTrait::ReturnLike>())
            unite(terminator->getOperands(), op->getResults());
      }
    }
  }

  llvm::EquivalenceClasses<Value> classes;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> order;
};

/// An encoding of a buffer as one of blocks with `rank` dimensions, the leading
/// of which the buffer may lack; null if TMA cannot write such a buffer.
gpu::NVMMASharedEncodingAttr asBlockEncoding(Attribute encoding,
                                             unsigned rank) {
  auto shared = dyn_cast_or_null<gpu::NVMMASharedEncodingAttr>(encoding);
  if (!shared || shared.getTransposed())
    return {};
  gpu::CTALayoutAttr ctaLayout = shared.getCTALayout();
  while (ctaLayout.getRank() < rank)
    ctaLayout = ctaLayout.insertDim(0);
  return gpu::NVMMASharedEncodingAttr::get(
      shared.getContext(), shared.getSwizzlingByteWidth(),
      shared.getTransposed(), shared.getElementBitWidth(),
      shared.getFp4Padded(), ctaLayout);
}

/// The encoding with which a loaded block goes to shared memory, if any.
gpu::NVMMASharedEncodingAttr getWish(Value loaded, unsigned rank) {
  SmallVector<Value> worklist{loaded};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (auto alloc = dyn_cast<gpu::LocalAllocOp>(user)) {
        if (auto wish = asBlockEncoding(
                alloc.getResult().getType().getEncoding(), rank))
          return wish;
      } else if (auto convert = dyn_cast<gpu::ConvertLayoutOp>(user)) {
        worklist.push_back(convert.getResult());
      }
    }
  }
  return {};
}

/// Whether a dot takes `operand`, which has K along its rows, as 4-bit numbers
/// with padding. Those beside 8-bit ones have it, where the unit that adds in
/// tensor memory computes the dot.
bool takesPadding(DotScaledOp dot, Value operand) {
  constexpr int64_t kLeastRows = 128, kLeastColumns = 32;
  auto isFP8 = [](ScaleDotElemType format) {
    return format == ScaleDotElemType::E4M3 || format == ScaleDotElemType::E5M2;
  };
  RankedTensorType type = dot.getType();
  if (type.getRank() != 2 || !type.getElementType().isF32() ||
      type.getShape()[0] < kLeastRows || type.getShape()[1] < kLeastColumns)
    return false;
  if (operand == dot.getA())
    return dot.getAElemType() == ScaleDotElemType::E2M1 && dot.getLhsKPack() &&
           isFP8(dot.getBElemType());
  return operand == dot.getB() &&
         dot.getBElemType() == ScaleDotElemType::E2M1 && dot.getRhsKPack() &&
         isFP8(dot.getAElemType());
}

/// Whether all that uses a loaded block are dots that take it so.
bool isPaddedForProducts(Value loaded) {
  auto type = cast<RankedTensorType>(loaded.getType());
  if (type.getRank() != 2 || loaded.use_empty())
    return false;
  return llvm::all_of(loaded.getUsers(), [&](Operation *user) {
    auto dot = dyn_cast<DotScaledOp>(user);
    if (dot)
      return loaded == dot.getA() && takesPadding(dot, loaded);
    // Columns of B are rows in memory.
    auto trans = dyn_cast<TransOp>(user);
    return trans && llvm::all_of(trans->getUsers(), [&](Operation *turned) {
             auto dot = dyn_cast<DotScaledOp>(turned);
             return dot && trans.getResult() == dot.getB() &&
                    takesPadding(dot, trans.getResult());
           });
  });
}

/// The scales of a dot that a block is, if all that uses it are such dots,
/// which the unit that adds in tensor memory computes.
std::optional<PackedScales> findPackedScalesOf(DescriptorLoadOp load) {
  constexpr int64_t kLeastRows = 128;
  std::optional<PackedScales> packed;
  SmallVector<Value> worklist{load.getResult()};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<ReshapeOp, TransOp>(user)) {
        worklist.push_back(user->getResult(0));
        continue;
      }
      auto dot = dyn_cast<DotScaledOp>(user);
      if (!dot || (value != dot.getAScale() && value != dot.getBScale()) ||
          dot.getType().getRank() != 2 ||
          dot.getType().getShape()[0] < kLeastRows)
        return std::nullopt;
      packed = findPackedScales(value);
      if (!packed)
        return std::nullopt;
    }
  }
  return packed;
}

//===----------------------------------------------------------------------===//
// What TMA cannot do, or not well
//===----------------------------------------------------------------------===//

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

/// The function that `value` is an argument of, if it is one.
FunctionOpInterface getFunctionOfArgument(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg ? dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp())
             : FunctionOpInterface();
}

/// Why TMA cannot use a descriptor that is made like this.
Obstacle findObstacle(MakeTensorDescOp op, const TMAAlignment &alignment,
                      const ModuleAxisInfoAnalysis &axisInfo,
                      ValueRanges &ranges) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function.isPublic())
    return "it is made in a function that is called";
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

/// Whether the launch makes what `op` says.
bool isOfLaunch(MakeTensorDescOp op) {
  return op && op->hasAttr(kOfArgumentsAttrName);
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
                      ValueRanges &ranges) {
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
      if (!isa<DescriptorLoadOp>(user) &&
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

/// Why the descriptors of a class are better off as pointers.
Obstacle findObstacle(ArrayRef<Value> members, ArrayRef<Operation *> users,
                      RankedTensorType block,
                      const ModuleAxisInfoAnalysis &axisInfo,
                      ValueRanges &ranges, unsigned numCTAs) {
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
    if (Obstacle obstacle = findObstacle(make, alignment, axisInfo, ranges))
      return obstacle;
  }
  if (Obstacle obstacle = findObstacle(users, alignment, axisInfo, ranges))
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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

class OptimizeDescriptorEncodingPass
    : public nvidia_gpu::impl::TritonNvidiaOptimizeDescriptorEncodingBase<
          OptimizeDescriptorEncodingPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<ModuleAxisInfoAnalysis> axisInfo;
    // A store whose offset overflows is nobody's wish, and hardly any offset
    // could be shown not to.
    ValueRanges ranges(module, ValueRangeAnalysis::Overflow::NeverHappens);
    SmallVector<BlockArgument> fromHost;
    SmallVector<MakeTensorDescOp> ofLaunch;
    if (leaveToPointers)
      axisInfo.emplace(module);
    for (ArrayRef<Value> members : DescriptorClasses(module).get()) {
      auto type = cast<TensorDescType>(members.front().getType());
      if (type.getBlockType().getEncoding()) {
        // The program says how blocks lie: the kernel's own become maps.
        if (leaveToPointers)
          for (Value value : members)
            if (auto function = getFunctionOfArgument(value);
                function && function.isPublic())
              fromHost.push_back(cast<BlockArgument>(value));
        continue;
      }
      SmallVector<Operation *> users = getUsers(members);
      Attribute encoding = choose(type.getBlockType(), users);
      RankedTensorType block =
          gpu::cloneWithEncoding(type.getBlockType(), encoding);
      if (leaveToPointers) {
        auto find = [&] {
          return findObstacle(members, users, block, *axisInfo, ranges,
                              getNumCTAs());
        };
        Obstacle obstacle = find();
        // Without padding, TMA asks for less.
        if (obstacle && getTMAPacking(block) > 1) {
          encoding = getDefault(type.getBlockType(), users, getNumCTAs());
          block = gpu::cloneWithEncoding(type.getBlockType(), encoding);
          obstacle = find();
        }
        if (obstacle) {
          remark::missed(members.front().getLoc(),
                         remark::RemarkOpts::name("descriptor-by-pointers")
                             .category(DEBUG_TYPE))
              << "this descriptor becomes pointers, not TMA copies: "
              << *obstacle;
          ++numLeft;
          continue;
        }
      }
      LDBG() << type << " gets " << encoding;
      for (Value value : members) {
        value.setType(TensorDescType::get(block));
        if (leaveToPointers && getFunctionOfArgument(value))
          fromHost.push_back(cast<BlockArgument>(value));
        if (auto make = value.getDefiningOp<MakeTensorDescOp>();
            make && leaveToPointers && isForLaunch(make, members.size()))
          ofLaunch.push_back(make);
      }
    }
    updateDescriptorsOfFunctions(module);
    if (!leaveToPointers)
      return;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (function.isPublic() && !function.isExternal())
        llvm::copy_if(function.getArguments(), std::back_inserter(fromHost),
                      [](BlockArgument argument) {
                        return isa<TensorDescIm2ColType>(argument.getType());
                      });
    for (auto [index, argument] : llvm::enumerate(fromHost))
      if (failed(unpackDescriptorArgument(argument, index)))
        return signalPassFailure();
    for (auto [index, make] : llvm::enumerate(ofLaunch))
      if (failed(moveDescriptorToLaunch(make, fromHost.size() + index)))
        return signalPassFailure();
    numOfLaunch += ofLaunch.size();
    forgetPixelDescriptors(module);
  }

private:
  /// In program order.
  static SmallVector<Operation *> getUsers(ArrayRef<Value> members) {
    SmallVector<Operation *> users;
    for (Value value : members)
      llvm::append_range(users, value.getUsers());
    // Lists of users are in no useful order.
    llvm::sort(users,
               [](Operation *a, Operation *b) { return isBefore(a, b); });
    return users;
  }

  /// Whether the launch is to make a descriptor of a class with so many
  /// members.
  bool isForLaunch(MakeTensorDescOp make, size_t numMembers) const {
    return isOfLaunch(make) ||
           (launchMaps && numMembers == 1 && canMoveToLaunch(make));
  }

  unsigned getNumCTAs() {
    return std::max<unsigned>(numCTAs, gpu::lookupNumCTAs(getOperation()));
  }

  Attribute choose(RankedTensorType block, ArrayRef<Operation *> users) {
    // Padded 4-bit numbers are only loaded, and not by the number of a row.
    bool hasOthers = llvm::any_of(
        users,
        llvm::IsaPred<DescriptorStoreOp, DescriptorReduceOp, DescriptorGatherOp,
                      DescriptorScatterOp, AsyncTMACopyLocalToGlobalOp>);
    for (Operation *user : users) {
      gpu::NVMMASharedEncodingAttr wish;
      if (isa<DescriptorLoadOp, DescriptorGatherOp>(user))
        wish = getWish(user->getResult(0), block.getRank());
      else if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(user))
        wish = asBlockEncoding(copy.getResult().getType().getEncoding(),
                               block.getRank());
      else if (auto copy = dyn_cast<AsyncTMACopyLocalToGlobalOp>(user))
        wish = asBlockEncoding(copy.getSrc().getType().getEncoding(),
                               block.getRank());
      if (wish && fits(wish, block) && !(wish.getFp4Padded() && hasOthers)) {
        ++numFromUses;
        return wish;
      }
    }
    if (forTensorMemory && !hasOthers) {
      if (Attribute padded = getPadded(block, users))
        return padded;
      if (Attribute rows = getEncodingOfScales(users))
        return rows;
    }
    ++numDefault;
    return getDefault(block, users, getNumCTAs());
  }

  /// Program order, for operations of the same module.
  static bool isBefore(Operation *a, Operation *b) {
    if (a == b)
      return false;
    SmallVector<Operation *> as, bs;
    for (Operation *op = a; op; op = op->getParentOp())
      as.push_back(op);
    for (Operation *op = b; op; op = op->getParentOp())
      bs.push_back(op);
    while (!as.empty() && !bs.empty() && as.back() == bs.back()) {
      as.pop_back();
      bs.pop_back();
    }
    if (as.empty() || bs.empty())
      return as.empty();
    a = as.back();
    b = bs.back();
    if (a->getBlock() == b->getBlock())
      return a->isBeforeInBlock(b);
    if (a->getParentRegion() != b->getParentRegion())
      return a->getParentRegion()->getRegionNumber() <
             b->getParentRegion()->getRegionNumber();
    return a->getBlock()->computeBlockNumber() <
           b->getBlock()->computeBlockNumber();
  }

  /// Whether rows of the block fill the swizzle.
  static bool fits(gpu::NVMMASharedEncodingAttr encoding,
                   RankedTensorType block) {
    if (encoding.getRank() != unsigned(block.getRank()) ||
        encoding.getElementBitWidth() != block.getElementTypeBitWidth())
      return false;
    int64_t columns = gpu::getShapePerCTA(encoding, block.getShape()).back();
    if (encoding.getFp4Padded())
      columns *= 2;
    return columns * block.getElementTypeBitWidth() / 8 >=
           encoding.getSwizzlingByteWidth();
  }

  /// The encoding of 4-bit numbers with padding; null if not all that uses the
  /// blocks takes it, or if rows are shorter than what TMA copies.
  Attribute getPadded(RankedTensorType block, ArrayRef<Operation *> users) {
    constexpr unsigned kPaddedSwizzle = 128;
    if (getNumCTAs() > 1 || block.getRank() != 2 ||
        !block.getElementType().isInteger(8))
      return {};
    bool isLoaded = false;
    for (Operation *user : users)
      if (auto load = dyn_cast<DescriptorLoadOp>(user)) {
        isLoaded = true;
        if (!isPaddedForProducts(load.getResult()))
          return {};
      }
    if (!isLoaded)
      return {};
    MLIRContext *context = block.getContext();
    auto encoding = gpu::NVMMASharedEncodingAttr::get(
        context, block.getShape(), /*order=*/ArrayRef<unsigned>{1, 0},
        gpu::CTALayoutAttr::getDefault(context, /*rank=*/2),
        block.getElementType(), /*fp4Padded=*/true);
    if (encoding.getSwizzlingByteWidth() != kPaddedSwizzle ||
        !fits(encoding, block))
      return {};
    ++numFromUses;
    return encoding;
  }

  /// The encoding of blocks of scales that are packed as tensor memory takes
  /// them; null if some block is loaded for something else.
  Attribute getEncodingOfScales(ArrayRef<Operation *> users) {
    if (getNumCTAs() > 1)
      return {};
    std::optional<PackedScales> packed;
    for (Operation *user : users)
      if (auto load = dyn_cast<DescriptorLoadOp>(user)) {
        packed = findPackedScalesOf(load);
        // Blocks may have leading dimensions that what is loaded lacks.
        if (!packed || load.getType().getRank() !=
                           load.getDesc().getType().getBlockType().getRank())
          return {};
      }
    if (!packed)
      return {};
    ++numFromUses;
    return packed->encoding;
  }

  /// The widest swizzle, divided over the cluster as the tensors are that
  /// blocks are loaded to or stored from.
  static Attribute getDefault(RankedTensorType block,
                              ArrayRef<Operation *> users, int numCTAs) {
    MLIRContext *context = block.getContext();
    unsigned rank = block.getRank();
    SmallVector<unsigned> order(llvm::reverse(llvm::seq<unsigned>(0, rank)));
    SmallVector<int64_t> shape(block.getShape());
    gpu::CTALayoutAttr ctaLayout;
    for (Operation *user : users) {
      RankedTensorType tensor;
      if (isa<DescriptorLoadOp, DescriptorGatherOp>(user))
        tensor = cast<RankedTensorType>(user->getResult(0).getType());
      else if (auto store = dyn_cast<DescriptorStoreOp>(user))
        tensor = cast<RankedTensorType>(store.getSrc().getType());
      else if (auto reduce = dyn_cast<DescriptorReduceOp>(user))
        tensor = cast<RankedTensorType>(reduce.getSrc().getType());
      else if (auto scatter = dyn_cast<DescriptorScatterOp>(user))
        tensor = cast<RankedTensorType>(scatter.getSrc().getType());
      if (!tensor)
        continue;
      if (!ctaLayout && tensor.getEncoding()) {
        ctaLayout = gpu::getCTALayout(tensor.getEncoding());
        while (ctaLayout.getRank() < rank)
          ctaLayout = ctaLayout.insertDim(0);
      }
      // The block of a gather is one row, the buffer is as many as are
      // gathered.
      if (isa<DescriptorGatherOp, DescriptorScatterOp>(user))
        shape.front() = std::max(shape.front(), tensor.getShape().front());
    }
    if (!ctaLayout)
      ctaLayout = gpu::CTALayoutAttr::getSplit(context, numCTAs, shape, order);
    return gpu::NVMMASharedEncodingAttr::get(context, shape, order, ctaLayout,
                                             block.getElementType(),
                                             /*fp4Padded=*/false);
  }
};

} // namespace
