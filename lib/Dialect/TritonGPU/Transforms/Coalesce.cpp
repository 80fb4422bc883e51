//===-- Coalesce.cpp - Layouts for memory accesses ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What each access wants (see CoalescedAccess.h), this pass turns into layouts.
//
// Accesses whose addresses or values meet somewhere are better off with one
// layout, even if a thread then owns more elements than it can load at once:
// the rest of its cache line comes with the next load, whereas other layouts
// have to be converted. Stores are different, as half-written cache lines cost
// bandwidth, so they never take more than what one instruction writes.
//
// Where nothing is known of neighbours, it counts what holds nearly everywhere:
// lanes go along the axis on which addresses are closest. If none is close, and
// elements are only reduced, each thread gets elements of few results, so that
// lanes have little to exchange.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/UsualStride.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/DivisionAttributes.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/CoalescedAccess.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"
#include <map>
#include <numeric>
#include <tuple>

#define DEBUG_TYPE "tritongpu-coalesce"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUCOALESCE
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// One memory operation, and the type of its pointers or of its block, with the
/// encoding from before.
struct Access : CoalescedAccess {
  Access(CoalescedAccess access, RankedTensorType type)
      : CoalescedAccess(std::move(access)), type(type) {}
  RankedTensorType type;
};

struct TritonGPUCoalesce : gpu::impl::TritonGPUCoalesceBase<TritonGPUCoalesce> {
  using Base::Base;

  void runOnOperation() override;

private:
  std::optional<Access> describe(Operation *op,
                                 const ModuleAxisInfoAnalysis &axisInfo);
  Attribute chooseLayout(const Access &access, int64_t widest);
  void setLayout(const Access &access, Attribute layout);
};

/// The tensor that moves between registers and memory through a descriptor.
RankedTensorType getDescriptorBlock(Operation *op) {
  return llvm::TypeSwitch<Operation *, RankedTensorType>(op)
      .Case<DescriptorLoadOp, DescriptorGatherOp>([](Operation *op) {
        return cast<RankedTensorType>(op->getResult(0).getType());
      })
      .Case<DescriptorStoreOp, DescriptorScatterOp, DescriptorReduceOp>(
          [](auto op) { return cast<RankedTensorType>(op.getSrc().getType()); })
      .Default(RankedTensorType());
}

std::optional<Access>
TritonGPUCoalesce::describe(Operation *op,
                            const ModuleAxisInfoAnalysis &axisInfo) {
  if (RankedTensorType block = getDescriptorBlock(op)) {
    // A descriptor's blocks are row-major, and as aligned as the copy engine
    // wants them.
    SmallVector<int64_t> contiguity(block.getRank(), 1);
    contiguity.back() = block.getShape().back();
    unsigned bits = std::max(getElementBitWidth(block), 8u);
    constexpr unsigned kAlignmentBits = 128;
    int64_t widest =
        std::min(getTargetModel(op).getMaxGlobalAccessBits(), kAlignmentBits) /
        bits;
    return Access({op, orderByContiguity(contiguity),
                   std::min<int64_t>(contiguity.back(), widest),
                   !isa<DescriptorLoadOp, DescriptorGatherOp>(op)},
                  block);
  }

  Value pointers = getAccessedPointers(op);
  RankedTensorType type =
      pointers ? getLaidOutTensor(pointers.getType()) : RankedTensorType();
  if (!type)
    return std::nullopt;
  return Access(describeAccess(op, axisInfo), type);
}

/// How the matrix product that uses `value` wants it divided over the blocks of
/// a cluster; null if none does. A block can read what it has loaded itself.
CTALayoutAttr getDivisionForProduct(Value value,
                                    llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (Operation *user : value.getUsers()) {
    if (user->getNumResults() != 1 || !seen.insert(user).second)
      continue;
    Value result = user->getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    bool isConversion = isa<ConvertLayoutOp>(user);
    if (isConversion && isa<DotOperandEncodingAttr>(type.getEncoding()))
      return getCTALayout(type.getEncoding());
    auto trans = dyn_cast<TransOp>(user);
    if (!type || (!isConversion && !trans &&
                  !user->hasTrait<mlir::OpTrait::Elementwise>()))
      continue;
    CTALayoutAttr found = getDivisionForProduct(result, seen);
    if (found && user->hasAttr(kDividesOperandAttrName))
      found = getCTALayout(type.getEncoding());
    if (found && trans) {
      SmallVector<int32_t> inverse(type.getRank());
      for (auto [to, from] : llvm::enumerate(trans.getOrder()))
        inverse[from] = to;
      found = found.permute(inverse);
    }
    if (found)
      return found;
  }
  return {};
}

Attribute TritonGPUCoalesce::chooseLayout(const Access &access,
                                          int64_t widest) {
  CTALayoutAttr ctas = getCTALayout(access.type.getEncoding());
  if (!access.writes && lookupNumCTAs(access.op) > 1) {
    llvm::SmallPtrSet<Operation *, 8> seen;
    if (auto wish = getDivisionForProduct(access.op->getResult(0), seen))
      ctas = wish;
  }
  return getCoalescedLayout(access, access.type.getShape(),
                            access.writes ? access.vector : widest, ctas);
}

void TritonGPUCoalesce::setLayout(const Access &access, Attribute layout) {
  OpBuilder b(access.op);
  auto takesLayout = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getShape() == access.type.getShape() &&
           tensor.getEncoding() != layout;
  };
  auto withLayout = [&](Type type) {
    return cloneWithEncoding(cast<RankedTensorType>(type), layout);
  };
  for (OpOperand &operand : access.op->getOpOperands()) {
    if (!takesLayout(operand.get().getType()))
      continue;
    operand.set(ConvertLayoutOp::create(b, access.op->getLoc(),
                                        withLayout(operand.get().getType()),
                                        operand.get()));
  }
  b.setInsertionPointAfter(access.op);
  for (Value result : access.op->getResults()) {
    Type before = result.getType();
    if (!takesLayout(before))
      continue;
    result.setType(withLayout(before));
    auto back = ConvertLayoutOp::create(b, access.op->getLoc(), before, result);
    result.replaceAllUsesExcept(back, back);
  }
}

/// Operations that tensors connect, whatever the direction: those whose layouts
/// have to do with each other.
llvm::EquivalenceClasses<Operation *> findConnected(ModuleOp module) {
  llvm::EquivalenceClasses<Operation *> classes;
  module.walk([&](Operation *op) {
    classes.insert(op);
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      // Arguments stand for the operation around them: the loop that carries
      // them. Function arguments connect what uses them.
      Operation *source = operand.getDefiningOp();
      if (auto arg = dyn_cast<BlockArgument>(operand))
        source = arg.getOwner()->getParentOp();
      classes.unionSets(op, source);
    }
    // What a region yields are the results of the operation around it.
    if (op->hasTrait<mlir::OpTrait::IsTerminator>() && op->getParentOp() &&
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
      classes.unionSets(op, op->getParentOp());
  });
  return classes;
}

/// The axis along which all is reduced that is computed of a load's elements;
/// none if something else becomes of them.
std::optional<unsigned> getReducedAxis(Operation *load) {
  std::optional<unsigned> axis;
  llvm::SetVector<Operation *> computed;
  computed.insert(load);
  for (size_t i = 0; i < computed.size(); ++i)
    for (Operation *user : computed[i]->getUsers()) {
      if (auto reduce = dyn_cast<ReduceOp>(user)) {
        if (axis && int64_t(*axis) != reduce.getAxis())
          return std::nullopt;
        axis = reduce.getAxis();
      } else if (user->hasTrait<mlir::OpTrait::Elementwise>() &&
                 user->getNumResults() == 1) {
        computed.insert(user);
      } else {
        return std::nullopt;
      }
    }
  return axis;
}

/// Whether axis info knows of no neighbours in memory, along any axis.
bool lacksNeighbours(const Access &access,
                     const ModuleAxisInfoAnalysis &axisInfo) {
  Value pointers = getAccessedPointers(access.op);
  const AxisInfo *info = pointers ? axisInfo.getAxisInfo(pointers) : nullptr;
  return info && llvm::all_of(access.order, [&](unsigned axis) {
           return info->getContiguity(axis) == 1;
         });
}

/// By axis, usual strides of an access' addresses.
using Strides = SmallVector<std::optional<int64_t>>;

Strides getUsualStrides(const Access &access) {
  Value pointers = getAccessedPointers(access.op);
  return llvm::map_to_vector(
      llvm::seq<unsigned>(0, access.order.size()),
      [&](unsigned axis) { return getUsualStride(pointers, axis); });
}

/// The axis along which lanes share sectors of memory nearly everywhere; none
/// if that isn't known of any.
std::optional<unsigned> getCloseAxis(const Access &access,
                                     const Strides &strides) {
  constexpr int64_t kSectorBytes = 32;
  Value pointers = getAccessedPointers(access.op);
  int64_t closest = kSectorBytes / AxisInfo::getUnit(pointers.getType());
  std::optional<unsigned> found;
  for (unsigned axis : access.order) {
    int64_t distance = std::abs(strides[axis].value_or(0));
    if (access.type.getDimSize(axis) > 1 && distance && distance < closest) {
      closest = distance;
      found = axis;
    }
  }
  return found;
}

/// Orders the axes of accesses of which axis info knows no neighbours, if that
/// holds for all that they may share a layout with. An axis along which
/// addresses are close nearly everywhere becomes the fastest. Of loads that are
/// scattered along all axes, a reduced axis becomes the slowest.
void orderWithoutNeighbours(MutableArrayRef<Access> accesses,
                            const llvm::EquivalenceClasses<Operation *> &groups,
                            const ModuleAxisInfoAnalysis &axisInfo) {
  auto getGroup = [&](const Access &access) {
    return std::pair(groups.getLeaderValue(access.op), access.type.getShape());
  };
  llvm::DenseSet<decltype(getGroup(accesses[0]))> ordered;
  for (const Access &access : accesses)
    if (!lacksNeighbours(access, axisInfo))
      ordered.insert(getGroup(access));
  for (Access &access : accesses) {
    if (access.type.getRank() < 2 || ordered.contains(getGroup(access)))
      continue;
    Strides strides = getUsualStrides(access);
    if (std::optional<unsigned> close = getCloseAxis(access, strides)) {
      llvm::erase(access.order, *close);
      access.order.insert(access.order.begin(), *close);
      continue;
    }
    // Lanes along each axis are in sectors of their own only if all strides are
    // known.
    if (!isa<LoadOp>(access.op) ||
        llvm::any_of(strides, [](auto stride) { return !stride.value_or(0); }))
      continue;
    if (std::optional<unsigned> reduced = getReducedAxis(access.op)) {
      llvm::erase(access.order, *reduced);
      access.order.push_back(*reduced);
    }
  }
}

void TritonGPUCoalesce::runOnOperation() {
  ModuleOp module = getOperation();
  ModuleAxisInfoAnalysis axisInfo(module);

  SmallVector<Access> accesses;
  WalkResult walk = module.walk([&](Operation *op) {
    std::optional<Access> access = describe(op, axisInfo);
    if (!access)
      return WalkResult::advance();
    if (!maybeLookupNumWarps(op)) {
      op->emitOpError("is in a module without '")
          << kNumWarpsAttrName << "'; run 'convert-triton-to-tritongpu' first";
      return WalkResult::interrupt();
    }
    accesses.push_back(std::move(*access));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return signalPassFailure();

  // The widest of all accesses that may share a layout.
  llvm::EquivalenceClasses<Operation *> connected = findConnected(module);
  orderWithoutNeighbours(accesses, connected, axisInfo);
  auto getGroup = [&](const Access &access) {
    return std::tuple(connected.getLeaderValue(access.op), access.order,
                      SmallVector<int64_t>(access.type.getShape()));
  };
  std::map<decltype(getGroup(accesses[0])), int64_t> widest;
  for (const Access &access : accesses) {
    int64_t &vector = widest[getGroup(access)];
    vector = std::max(vector, access.vector);
  }
  SmallVector<Attribute> layouts;
  for (const Access &access : accesses) {
    layouts.push_back(chooseLayout(access, widest[getGroup(access)]));
    ++numAccesses;
    numVectorized += access.vector > 1;
    LDBG() << *access.op << " gets " << layouts.back();
    if (!access.obstacle.empty())
      remark::missed(
          access.op->getLoc(),
          remark::RemarkOpts::name("single-elements").category(DEBUG_TYPE))
          << access.obstacle;
  }

  for (auto [access, layout] : llvm::zip(accesses, layouts))
    setLayout(access, layout);
}

} // namespace
