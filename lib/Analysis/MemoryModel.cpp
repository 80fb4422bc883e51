//===-- MemoryModel.cpp - What may alias, what may be reordered -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/MemoryModel.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/IterationAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// True for memory that no pointer points to: each has a resource of its own.
static bool isOnChip(SideEffects::Resource *resource) {
  return !isa<GlobalMemory, SideEffects::DefaultResource>(resource);
}

/// Operations that order whatever is around them, or of which too little is
/// known to say that they do not.
static bool ordersEverything(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return isFreshRead(load);
  if (auto barrier = dyn_cast<ttg::BarrierOp>(op))
    return barrier.hasGlobalRead() || barrier.hasGlobalWrite();
  // Prints show registers, and assumptions are made at compile time.
  if (isa<PrintOp, AtomicRMWOp, AtomicCASOp, LLVM::AssumeOp,
          ttg::AsyncCommitGroupOp>(op) ||
      isMemoryEffectFree(op))
    return false;
  // Products of operands on the chip, unless somebody learns of their end.
  if (auto product = dyn_cast<MatrixProductOpInterface>(op))
    return !product.getCompletionBarriers().empty();
  if (isa<MatrixProductWaitOpInterface>(op) || op->hasTrait<ttg::OnChipOnly>())
    return false;
  // Other asynchronous engines, and what threads wait for them with.
  if (op->hasTrait<ttg::OrdersMemory>())
    return true;
  if (isa<ttg::WarpSpecializeOp>(op))
    return true;
  if (op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>())
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return !effect.getValue() && !isOnChip(effect.getResource());
  });
}

static std::optional<MemSemantic> getSemantic(Operation *op) {
  if (auto atomic = dyn_cast<AtomicRMWOp>(op))
    return atomic.getSem();
  if (auto atomic = dyn_cast<AtomicCASOp>(op))
    return atomic.getSem();
  return std::nullopt;
}

bool triton::isAcquire(Operation *op) {
  if (std::optional<MemSemantic> semantic = getSemantic(op))
    return *semantic == MemSemantic::ACQUIRE ||
           *semantic == MemSemantic::ACQUIRE_RELEASE;
  // A dot tells others of its end, and hears of nothing.
  if (isa<MatrixProductOpInterface>(op))
    return false;
  return ordersEverything(op);
}

bool triton::isRelease(Operation *op) {
  if (std::optional<MemSemantic> semantic = getSemantic(op))
    return *semantic == MemSemantic::RELEASE ||
           *semantic == MemSemantic::ACQUIRE_RELEASE;
  return ordersEverything(op);
}

//===----------------------------------------------------------------------===//
// Aliasing
//===----------------------------------------------------------------------===//

/// Appends the values that `value` takes its addresses from; fails where that
/// cannot be followed. Nothing is appended for a value that is its own origin.
static LogicalResult addSources(Value value, SmallVectorImpl<Value> &sources) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    unsigned number = arg.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (arg == loop.getInductionVar())
        return failure();
      sources.push_back(loop.getTiedLoopInit(arg)->get());
      sources.push_back(loop.getTiedLoopYieldedValue(arg)->get());
      return success();
    }
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (arg.getOwner() == loop.getAfterBody()) {
        sources.push_back(loop.getConditionOp().getArgs()[number]);
        return success();
      }
      sources.push_back(loop.getInits()[number]);
      sources.push_back(loop.getYieldOp().getOperand(number));
      return success();
    }
    if (auto partitions = dyn_cast<ttg::WarpSpecializePartitionsOp>(parent)) {
      auto specialize = cast<ttg::WarpSpecializeOp>(partitions->getParentOp());
      if (!arg.getOwner()->isEntryBlock())
        return failure();
      sources.push_back(specialize.getExplicitCaptures()[number]);
      return success();
    }
    return success(isa<FunctionOpInterface>(parent) &&
                   arg.getOwner()->isEntryBlock() &&
                   isa<PointerType>(arg.getType()));
  }
  Operation *def = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, ttg::ConvertLayoutOp,
          ReshapeOp, TransOp, BitcastOp, MakeTensorDescOp>(def)) {
    sources.push_back(def->getOperand(0));
    return success();
  }
  if (auto pointing = dyn_cast<ttg::PointerSourceOpInterface>(def)) {
    Value source = pointing.getPointerSource();
    if (!source)
      return failure();
    sources.push_back(source);
    return success();
  }
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    sources.push_back(select.getTrueValue());
    sources.push_back(select.getFalseValue());
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(def)) {
    sources.push_back(branch.thenYield().getOperand(number));
    sources.push_back(branch.elseYield().getOperand(number));
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(def)) {
    sources.push_back(loop.getInitArgs()[number]);
    sources.push_back(loop.getYieldedValues()[number]);
    return success();
  }
  if (auto loop = dyn_cast<scf::WhileOp>(def)) {
    sources.push_back(loop.getConditionOp().getArgs()[number]);
    return success();
  }
  return success(isa<ttg::GlobalScratchAllocOp, ub::PoisonOp>(def));
}

Value triton::getPointerOrigin(Value ptr) {
  llvm::SetVector<Value> work;
  work.insert(ptr);
  Value origin;
  for (size_t i = 0; i < work.size(); ++i) {
    Value value = work[i];
    SmallVector<Value> sources;
    if (failed(addSources(value, sources)))
      return {};
    work.insert(sources.begin(), sources.end());
    if (!sources.empty() || value.getDefiningOp<ub::PoisonOp>())
      continue;
    if (origin && origin != value)
      return {};
    origin = value;
  }
  return origin;
}

MemoryModel::MemoryModel(Operation *op, Arguments arguments)
    : arguments(arguments) {
  auto module = op->getParentOfType<ModuleOp>();
  if (module && module->hasAttr(kOverlappingArgumentsAttrName))
    this->arguments = Arguments::MayOverlap;
}

bool MemoryModel::mayAlias(Value lhs, Value rhs) {
  Value left = getPointerOrigin(lhs), right = getPointerOrigin(rhs);
  if (!left || !right || left == right)
    return true;
  auto leftArg = dyn_cast<BlockArgument>(left);
  auto rightArg = dyn_cast<BlockArgument>(right);
  // Scratch memory is nobody else's.
  if (!leftArg || !rightArg)
    return false;
  // What a device function is called with only its callers know.
  auto function =
      dyn_cast<FunctionOpInterface>(leftArg.getOwner()->getParentOp());
  if (arguments == Arguments::MayOverlap || !function || !function.isPublic())
    return true;
  assumptions.insert(
      std::minmax({leftArg.getArgNumber(), rightArg.getArgNumber()}));
  return false;
}

//===----------------------------------------------------------------------===//
// Moving and repeating loads
//===----------------------------------------------------------------------===//

/// Calls `visit` for the addresses that `op` itself writes to. Whether it may
/// write more than that is a question of order.
static void forEachWrite(Operation *op, function_ref<void(Value)> visit) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || isa<LoadOp>(op))
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (isa<MemoryEffects::Write>(effect.getEffect()) && effect.getValue() &&
        !isOnChip(effect.getResource()))
      visit(effect.getValue());
}

/// The pointers or the descriptor that a load reads through.
static Value getAddress(Operation *load) {
  if (auto block = dyn_cast<DescriptorLoadOp>(load))
    return block.getDesc();
  if (auto rows = dyn_cast<DescriptorGatherOp>(load))
    return rows.getDesc();
  return cast<LoadOp>(load).getPtr();
}

bool MemoryModel::mayWrite(Operation *op, Operation *load) {
  bool mayWrite = false;
  op->walk([&](Operation *nested) {
    forEachWrite(nested, [&](Value written) {
      mayWrite = mayWrite || mayAlias(written, getAddress(load));
    });
  });
  return mayWrite;
}

/// Whether `op` computes an index, a mask or an address from others.
static bool isIndexing(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !isa<MatrixProductOpInterface>(op) &&
         llvm::none_of(op->getOperandTypes(), [](Type type) {
           return isa<FloatType>(getElementTypeOrSelf(type));
         });
}

namespace {

/// What `value` is computed from as an index: places, that is counters,
/// arguments and numbers of programs, and data, which something read or
/// computed otherwise. Constants are left out.
struct IndexSources {
  explicit IndexSources(Value value) {
    llvm::SetVector<Value> work;
    work.insert(value);
    for (size_t i = 0; i < work.size(); ++i) {
      Operation *def = work[i].getDefiningOp();
      if (def && !isIndexing(def)) {
        data.insert(work[i]);
      } else if (!def || (def->getNumOperands() == 0 &&
                          !def->hasTrait<mlir::OpTrait::ConstantLike>())) {
        hasPlaces = true;
      } else {
        work.insert(def->operand_begin(), def->operand_end());
      }
    }
  }

  bool hasPlaces = false;
  llvm::SmallDenseSet<Value> data;
};

} // namespace

/// Whether `assertion` may be what keeps `load` from reading where nothing is:
/// it is about places, or about the data that the address is computed from. One
/// about other data stops the kernel whether or not that was read ahead of it.
static bool guards(AssertOp assertion, Operation *load) {
  IndexSources checked(assertion.getCondition());
  return checked.hasPlaces ||
         llvm::any_of(load->getOperands(), [&](Value operand) {
           return llvm::any_of(IndexSources(operand).data, [&](Value data) {
             return checked.data.contains(data);
           });
         });
}

/// Why the memory that `load` reads may be other memory before `op`.
static std::string findWrite(MemoryModel &model, Operation *load,
                             Operation *op) {
  auto read = dyn_cast<LoadOp>(load);
  if (read && isFreshRead(read))
    return "it asks for what others write meanwhile";
  if (model.mayWrite(op, load))
    return "the loop may change what it reads";
  return "";
}

std::string MemoryModel::findObstacle(Operation *load, Operation *op) {
  std::string obstacle = findWrite(*this, load, op);
  if (!obstacle.empty())
    return obstacle;
  op->walk([&](Operation *nested) {
    auto assertion = dyn_cast<AssertOp>(nested);
    if (assertion && guards(assertion, load))
      obstacle = "the assertion '" + assertion.getMessage().str() +
                 "' in the loop may be about its address";
    else if (!assertion && isAcquire(nested))
      obstacle = "nothing may be read ahead of '" +
                 nested->getName().getStringRef().str() + "' in the loop";
    return obstacle.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return obstacle;
}

std::string MemoryModel::findObstacleInLoop(Operation *load, Operation *loop) {
  // What follows the load in an iteration that is for itself.
  Operation *last = loop->hasAttr(ttg::kIndependentIterationsAttrName)
                        ? loop->getRegion(0).findAncestorOpInRegion(*load)
                        : nullptr;
  bool isBehind = false;
  for (Region &region : loop->getRegions())
    for (Operation &op : region.getOps()) {
      std::string obstacle =
          isBehind ? findWrite(*this, load, &op) : findObstacle(load, &op);
      if (!obstacle.empty())
        return obstacle;
      isBehind |= &op == last;
    }
  return "";
}

bool MemoryModel::mayReadBefore(Operation *load, Operation *op) {
  return findObstacle(load, op).empty();
}

bool MemoryModel::mayReadInEarlierIteration(Operation *load, Operation *loop) {
  return findObstacleInLoop(load, loop).empty();
}

RepeatableReads::RepeatableReads(Operation *function) {
  function->walk([&](Operation *op) {
    forEachWrite(op, [&](Value address) {
      if (Value origin = getPointerOrigin(address))
        written.insert(origin);
      else
        writesAnywhere = true;
    });
  });
}

bool RepeatableReads::contains(LoadOp load) const {
  if (isFreshRead(load) || writesAnywhere)
    return false;
  if (written.empty())
    return true;
  Value origin = getPointerOrigin(load.getPtr());
  return origin && !written.contains(origin);
}

void triton::noteDisjointArguments(FunctionOpInterface function,
                                   ArrayRef<MemoryModel::ArgumentPair> pairs) {
  if (pairs.empty())
    return;
  llvm::SetVector<MemoryModel::ArgumentPair> all(pairs.begin(), pairs.end());
  if (auto known = function->getAttrOfType<DenseI32ArrayAttr>(
          kDisjointArgumentsAttrName))
    for (int64_t i = 0; i + 1 < known.size(); i += 2)
      all.insert({known[i], known[i + 1]});
  SmallVector<MemoryModel::ArgumentPair> sorted = all.takeVector();
  llvm::sort(sorted);
  SmallVector<int32_t> flat;
  for (auto [first, second] : sorted) {
    flat.push_back(first);
    flat.push_back(second);
  }
  function->setAttr(kDisjointArgumentsAttrName,
                    DenseI32ArrayAttr::get(function.getContext(), flat));
}
