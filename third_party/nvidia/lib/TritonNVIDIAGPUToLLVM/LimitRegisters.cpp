//===-- LimitRegisters.cpp - Registers that cost no block -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "nvidia/TargetModel.h"
#include "nvidia/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/WarpGroups.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "limit-registers-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_LIMITREGISTERSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

/// What each block takes of shared memory besides its own; one block may have
/// all of a processor's but this.
static constexpr int64_t kReservedShared = 1024;
/// Without a limit ptxas makes as good a choice among up to so many registers.
static constexpr int64_t kLeastLimit = 128;
/// What addresses and counters of a loop take, beside its tensors.
static constexpr int64_t kScalars = 8;
/// What consumers of partitions need, beside the results of their products.
static constexpr int64_t kScalarsOfProducts = 72;

/// How many registers a thread needs for a tensor.
static int64_t countElements(RankedTensorType type) {
  int64_t bits = int64_t(ttg::toLinearLayout(type).getInDimSize(kRegister)) *
                 type.getElementTypeBitWidth();
  return llvm::divideCeil(bits, 32);
}

/// Whether a tensor is a constant or the same number everywhere.
static bool isConstantOrSplat(Value value) {
  Operation *def = value.getDefiningOp();
  return def &&
         (def->hasTrait<mlir::OpTrait::ConstantLike>() || isa<SplatOp>(def));
}

/// The same for a tensor of data. Indices, masks and pointers are few numbers
/// and constants, and so is what is splat.
static int64_t countRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || isConstantOrSplat(value))
    return 0;
  Operation *def = value.getDefiningOp();
  Type element = type.getElementType();
  bool isLoaded = isa_and_nonnull<LoadOp, ttg::LocalLoadOp>(def);
  if (!element.isIntOrFloat() || element.isInteger(1) ||
      (element.isInteger() && element.getIntOrFloatBitWidth() >= 32 &&
       !isLoaded && !isa<ttg::NvidiaMmaEncodingAttr>(type.getEncoding())))
    return 0;
  return countElements(type);
}

/// Whether an element of the results is made of one of each operand, that the
/// thread has.
static bool isElementwise(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         isa<BroadcastOp, ExpandDimsOp>(op);
}

/// Tensors whose elements follow from their places.
static DenseSet<Value> findIndices(FunctionOpInterface function) {
  DenseSet<Value> indices;
  function.walk([&](Operation *op) {
    if (isa<MakeRangeOp>(op) ||
        ((isElementwise(op) || isa<ttg::ConvertLayoutOp>(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) ||
                  isConstantOrSplat(operand) || indices.contains(operand);
         })))
      indices.insert_range(op->getResults());
  });
  return indices;
}

namespace {
/// Registers that tensors take while they wait for their users. What is made
/// element by element for one that takes it so needs not be there as a whole:
/// until then it takes what it is made of, or itself if that is less.
class WaitingRegisters {
public:
  WaitingRegisters(FunctionOpInterface function,
                   function_ref<int64_t(Value)> count)
      : liveness(function), count(count) {}

  int64_t operator()(Value value) {
    auto known = registers.find(value);
    if (known != registers.end())
      return known->second;
    int64_t least = count(value);
    if (Operation *user = least ? findUserByElements(value) : nullptr) {
      int64_t sources = 0;
      for (Value operand : value.getDefiningOp()->getOperands())
        if (liveness.isDeadAfter(operand, user))
          sources += (*this)(operand);
      least = std::min(least, sources);
    }
    return registers[value] = least;
  }

private:
  /// The one user of an elementwise operation's result that needs none of its
  /// elements beside another, if it follows in the block.
  static Operation *findUserByElements(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || !isElementwise(def) || !value.hasOneUse())
      return nullptr;
    Operation *user = *value.user_begin();
    bool byElements = isElementwise(user) || isa<ReduceOp, StoreOp>(user);
    return byElements && user->getBlock() == def->getBlock() ? user : nullptr;
  }

  Liveness liveness;
  function_ref<int64_t(Value)> count;
  llvm::DenseMap<Value, int64_t> registers;
};
} // namespace

/// The most registers that tensors take at one time.
static int64_t countLiveRegisters(FunctionOpInterface function,
                                  function_ref<int64_t(Value)> count) {
  Liveness liveness(function);
  int64_t most = 0;
  for (Block &block : function.getFunctionBody()) {
    // What an operation makes takes the place of what it uses up.
    DenseSet<Value> alive;
    int64_t taken = 0;
    auto add = [&](Value value) {
      if (alive.insert(value).second)
        taken += count(value);
    };
    for (Value value : liveness.getLiveOut(&block))
      add(value);
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        if (alive.erase(result))
          taken -= count(result);
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (!op.isAncestor(operand.getParentBlock()->getParentOp()))
            add(operand);
      });
      most = std::max(most, taken);
    }
  }
  return most;
}

namespace {
struct LimitRegistersNV : nvidia::impl::LimitRegistersNVBase<LimitRegistersNV> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
    if (failed(target))
      return signalPassFailure();
    // Something else gave a limit.
    if (module->hasAttr(ttg::kMaxNRegAttrName))
      return;
    auto shared = module->getAttrOfType<IntegerAttr>(ttg::kSharedAttrName);
    if (!shared)
      return;
    auto totalWarps =
        module->getAttrOfType<IntegerAttr>(ttg::kTotalNumWarpsAttrName);
    int64_t threads =
        (totalWarps ? int(totalWarps.getInt()) : ttg::lookupNumWarps(module)) *
        ttg::lookupThreadsPerWarp(module);
    int64_t blocks = ((*target)->maxSharedMemory + kReservedShared) /
                     (shared.getInt() + kReservedShared);
    if (blocks == 0)
      return;
    const auto *model = nvidia::TargetModel::get((*target)->computeCapability);
    // Partitions have limits of their own.
    if (totalWarps) {
      if (blocks > 1)
        limitSpecialized(model->getRegistersPerThread(2 * threads));
      return;
    }
    int64_t most = model->getRegistersPerThread(threads);
    if (mayNeedMoreThan(most))
      return setLimit(most);
    if (most < (*target)->maxRegistersPerThread)
      return;
    int64_t limit = model->getRegistersPerThread(threads * blocks);
    // All blocks that there is room for can have all the registers. Products of
    // warp groups make use of them; others got more without shorter loops.
    bool allOfThem = limit >= (*target)->maxRegistersPerThread;
    if ((*target)->hasWGMMA)
      return allOfThem ? setLimit(limit) : void();
    if (allOfThem || limit <= kLeastLimit)
      return;
    // Kernels of more than one product may need more than can be told.
    int64_t products = 0, functions = 0;
    FunctionOpInterface kernel;
    module.walk([&](Operation *op) {
      products += isa<MatrixProductOpInterface>(op);
      if (auto function = dyn_cast<FunctionOpInterface>(op)) {
        kernel = function;
        ++functions;
      }
    });
    if (products != 1 || functions != 1)
      return;
    int64_t needed = countLiveRegisters(kernel, countRegisters) + kScalars;
    LDBG() << needed << " registers needed, " << limit << " for each of "
           << blocks << " blocks";
    if (needed <= kLeastLimit || needed > limit)
      return;
    setLimit(limit);
  }

private:
  /// Where a kernel may need more registers than a thread of its block can
  /// have, that many are stated: ptxas may give up on it otherwise and settle
  /// for 32. Where they suffice, ptxas weighs them against resident blocks,
  /// which a limit would stop.
  bool mayNeedMoreThan(int64_t limit) {
    int64_t needed = 0;
    getOperation().walk([&](FunctionOpInterface function) {
      DenseSet<Value> indices = findIndices(function);
      auto count = [&](Value value) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        return type && type.getElementType().isIntOrFloat() &&
                       !type.getElementType().isInteger(1) &&
                       !isConstantOrSplat(value) && !indices.contains(value)
                   ? countElements(type)
                   : 0;
      };
      WaitingRegisters waiting(function, count);
      needed += kScalars + countLiveRegisters(function, waiting);
    });
    LDBG() << needed << " registers needed of " << limit;
    return needed > limit;
  }

  /// Where shared memory has room for a second block, has registers leave it
  /// room as well, if enough of them stay with the default group.
  void limitSpecialized(int64_t limit) {
    ModuleOp module = getOperation();
    SmallVector<ttg::WarpSpecializeOp> ops;
    int64_t needed = kScalarsOfProducts;
    module.walk([&](Operation *op) {
      if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op))
        ops.push_back(specialize);
      if (auto product = dyn_cast<MatrixProductOpInterface>(op);
          product && product.getProduct())
        needed += countRegisters(product.getProduct());
    });
    if (needed == kScalarsOfProducts)
      return;
    Builder builder(&getContext());
    module->setAttr(ttg::kMaxNRegAttrName, builder.getI32IntegerAttr(limit));
    ttg::allocateRegisters(module);
    bool suffices = llvm::all_of(ops, [&](ttg::WarpSpecializeOp op) {
      auto registers = op.getActualRegisters();
      return registers && registers->front() >= needed;
    });
    LDBG() << needed << " registers needed by the default group, "
           << (suffices ? "two blocks" : "one block");
    if (suffices) {
      ++numLimited;
      return;
    }
    module->removeAttr(ttg::kMaxNRegAttrName);
    ttg::allocateRegisters(module);
  }

  void setLimit(int64_t limit) {
    getOperation()->setAttr(ttg::kMaxNRegAttrName,
                            Builder(&getContext()).getI32IntegerAttr(limit));
    ++numLimited;
  }
};
} // namespace
