//===-- Allocation.cpp - Places in shared memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/CallGraph.h"
#include "tile/Analysis/UnderWay.h"

#include "mlir/Analysis/Liveness.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "allocate-shared-memory"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Scratch memory is accessed in vectors of up to 16 bytes.
constexpr int64_t kScratchAlignment = 16;
/// Swizzled buffers of a callee count on the alignment of their own frame: the
/// pattern of the widest swizzle repeats every 1024 bytes.
constexpr int64_t kFrameAlignment = 1024;
/// Scratch buffers up to this size get a place of their own where that costs
/// at most as much again: two reductions in a row then need no barrier between.
constexpr int64_t kSmallScratch = 1024;
} // namespace

Allocation::Allocation(FunctionOpInterface function)
    : function(function), aliases(function) {}

Allocation::Allocation(FunctionOpInterface function, CalleeSizeFn calleeSize)
    : Allocation(function) {
  collect(function, calleeSize);
  if (buffers.empty())
    return;
  computeLifetimes(function);
  place();
}

FailureOr<std::unique_ptr<Allocation>>
Allocation::read(FunctionOpInterface function, CalleeSizeFn calleeSize) {
  std::unique_ptr<Allocation> result(new Allocation(function));
  result->collect(function, calleeSize);
  for (Buffer &buffer : result->buffers) {
    auto offset =
        buffer.owner->getAttrOfType<IntegerAttr>(kAllocationOffsetAttrName);
    if (!offset)
      return buffer.owner->emitError("expected '")
             << kAllocationOffsetAttrName << "' on an operation that needs "
             << buffer.size
             << " bytes of shared memory, found none: allocate shared memory "
                "first";
    buffer.offset = offset.getInt();
    result->size = std::max(result->size, buffer.offset + buffer.size);
  }
  return result;
}

int Allocation::getBufferOf(Operation *op) const {
  auto it = bufferOf.find(op);
  return it == bufferOf.end() ? -1 : it->second;
}

SmallVector<int> Allocation::getBuffersOf(Value memdesc) const {
  SmallVector<int> result;
  for (Value root : aliases.getRoots(memdesc))
    if (Operation *op = root.getDefiningOp())
      if (int buffer = getBufferOf(op); buffer >= 0)
        result.push_back(buffer);
  return result;
}

SmallVector<BlockArgument> Allocation::getArgumentsOf(Value memdesc) const {
  SmallVector<BlockArgument> result;
  for (Value root : aliases.getRoots(memdesc))
    if (auto arg = dyn_cast<BlockArgument>(root);
        arg && arg.getOwner()->getParentOp() == function)
      result.push_back(arg);
  return result;
}

void Allocation::collect(FunctionOpInterface function,
                         CalleeSizeFn calleeSize) {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Buffer buffer{Kind::Scratch, op, 0, kScratchAlignment};
    if (auto alloc = dyn_cast<gpu::LocalAllocOp>(op)) {
      if (!alloc.isSharedMemoryAlloc())
        return;
      buffer.kind = Kind::Explicit;
      buffer.size = getBufferSize(alloc.getResult());
      buffer.alignment = std::max<int64_t>(alloc.getAlignmentOrDefault(), 16);
    } else if (auto call = dyn_cast<CallOpInterface>(op)) {
      buffer.kind = Kind::Call;
      buffer.size = calleeSize(call);
      buffer.alignment = kFrameAlignment;
    } else {
      buffer.size = getScratchSize(op);
      if (auto scratch = dyn_cast<gpu::ScratchMemoryOpInterface>(op))
        buffer.alignment = scratch.getScratchAlignment();
    }
    if (buffer.size == 0)
      return;
    bufferOf[op] = buffers.size();
    buffers.push_back(buffer);
  });
}

/// The partition of the outermost warp_specialize around `op`, if there is one.
static Region *getPartition(Operation *op, Operation *function) {
  Region *partition = nullptr;
  for (; op && op != function; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    auto specialize = dyn_cast_or_null<gpu::WarpSpecializeOp>(parent);
    bool isDefault =
        specialize && op->getParentRegion() == &specialize.getDefaultRegion();
    if (isDefault || isa_and_nonnull<gpu::WarpSpecializePartitionsOp>(parent))
      partition = op->getParentRegion();
  }
  return partition;
}

void Allocation::computeLifetimes(FunctionOpInterface function) {
  // Operations in program order; an operation's life includes its regions.
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> numberOf;
  int64_t next = 0;
  std::function<void(Operation *)> number = [&](Operation *op) {
    int64_t begin = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    numberOf[op] = {begin, next++};
  };
  number(function);

  auto extendTo = [&](Buffer &buffer, Operation *op) {
    auto [begin, end] = numberOf.lookup(op);
    buffer.beginInside = std::min(buffer.beginInside, begin);
    buffer.endInside = std::max(buffer.endInside, end);
    Region *partition = getPartition(op, function);
    // Partitions of warp_specialize run at once: for the others, what lives in
    // one lives as long as all of them.
    if (partition)
      std::tie(begin, end) =
          numberOf.lookup(partition->getParentOfType<gpu::WarpSpecializeOp>());
    if (partition != buffer.partition)
      buffer.partition = nullptr;
    buffer.begin = std::min(buffer.begin, begin);
    buffer.end = std::max(buffer.end, end);
  };
  for (Buffer &buffer : buffers) {
    std::tie(buffer.begin, buffer.end) = numberOf.lookup(buffer.owner);
    std::tie(buffer.beginInside, buffer.endInside) =
        numberOf.lookup(buffer.owner);
    buffer.partition = getPartition(buffer.owner, function);
    extendTo(buffer, buffer.owner);
    // A scratch buffer is needed around the operation only, not in its region.
    // But the warps of partitions wait for work from the start to the end.
    if (isa<gpu::WarpSpecializeOp>(buffer.owner))
      std::tie(buffer.begin, buffer.end) = numberOf.lookup(function);
  }

  if (llvm::none_of(buffers, [](const Buffer &buffer) {
        return buffer.kind == Kind::Explicit;
      }))
    return;
  Liveness liveness(function);
  auto extendByValue = [&](Value value) {
    if (!isa<gpu::MemDescType>(value.getType()))
      return;
    SmallVector<int> views = getBuffersOf(value);
    if (views.empty())
      return;
    for (Operation *op : liveness.resolveLiveness(value))
      for (int view : views)
        extendTo(buffers[view], op);
  };
  function->walk([&](Operation *op) {
    // A buffer lives until what reads or writes it is done, whether or not
    // anybody asks for that.
    if (getAsyncWork(op)) {
      llvm::SmallSetVector<int, 4> used;
      for (Value buffer : getBuffersOfAsyncWork(op))
        used.insert_range(getBuffersOf(buffer));
      if (!used.empty())
        followUnderWay(op, aliases, {.visit = [&](Operation *at) {
                         for (int buffer : used)
                           extendTo(buffers[buffer], at);
                       }});
    }
    for (Value result : op->getResults())
      extendByValue(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          extendByValue(argument);
  });
}

void Allocation::place() {
  auto liveTogether = [](const Buffer &a, const Buffer &b) {
    return a.livesWith(b);
  };
  // Large ones first, each at the lowest place that is free.
  SmallVector<int> order = llvm::to_vector(llvm::seq<int>(0, buffers.size()));
  llvm::sort(order, [&](int a, int b) {
    return std::pair(buffers[b].size, a) < std::pair(buffers[a].size, b);
  });
  auto placeWith =
      [&](llvm::function_ref<bool(const Buffer &, const Buffer &)> conflict) {
        int64_t total = 0;
        SmallVector<int> placed;
        for (int i : order) {
          Buffer &buffer = buffers[i];
          SmallVector<std::pair<int64_t, int64_t>> taken;
          for (int j : placed)
            if (conflict(buffer, buffers[j]))
              taken.push_back({buffers[j].offset, buffers[j].size});
          llvm::sort(taken);
          int64_t offset = 0;
          for (auto [at, size] : taken) {
            if (offset + buffer.size <= at)
              break;
            offset = std::max<int64_t>(
                offset, llvm::alignTo(at + size, buffer.alignment));
          }
          buffer.offset = offset;
          total = std::max(total, offset + buffer.size);
          placed.push_back(i);
        }
        return total;
      };

  int64_t tight = placeWith(liveTogether);
  auto isSmall = [](const Buffer &buffer) {
    return buffer.kind == Kind::Scratch && buffer.size <= kSmallScratch;
  };
  int64_t spread = placeWith([&](const Buffer &a, const Buffer &b) {
    return isSmall(a) || isSmall(b) || liveTogether(a, b);
  });
  size = spread <= tight + kSmallScratch ? spread : placeWith(liveTogether);
  LDBG() << buffers.size() << " buffers, " << size << " bytes, " << tight
         << " at the least";
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A buffer ends with the function that made it. So a function returns parts of
/// its arguments alone.
static LogicalResult checkResults(FunctionOpInterface function) {
  if (!llvm::any_of(function.getResultTypes(), llvm::IsaPred<gpu::MemDescType>))
    return success();
  SharedMemoryAliasAnalysis aliases(function);
  WalkResult result = function->walk([&](Operation *op) {
    if (!op->hasTrait<mlir::OpTrait::ReturnLike>() ||
        op->getParentOp() != function)
      return WalkResult::advance();
    for (Value value : op->getOperands()) {
      for (Value root : aliases.getRoots(value)) {
        auto argument = dyn_cast<BlockArgument>(root);
        if (argument && argument.getOwner() == &function.front())
          continue;
        InFlightDiagnostic error =
            op->emitError("expected a function to return parts of buffers that "
                          "it was given, found one of its own");
        error.attachNote(root.getLoc()) << "it ends with the function";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Callers know nothing of what a function leaves under way: not how long its
/// frame is in use, nor what to wait for.
static LogicalResult checkEnd(FunctionOpInterface function) {
  if (function.isPublic())
    return success();
  LogicalResult result = success();
  SharedMemoryAliasAnalysis aliases(function);
  function->walk([&](Operation *op) {
    if (!getAsyncWork(op))
      return;
    bool isLeft = false;
    followUnderWay(op, aliases, {.visit = [&](Operation *at) {
                     isLeft |= at->hasTrait<mlir::OpTrait::ReturnLike>() &&
                               at->getParentOp() == function;
                   }});
    if (isLeft)
      result = op->emitError("expected a wait for this on every way to the end "
                             "of the function, found none: callers would not "
                             "know that it is under way");
  });
  return result;
}

FailureOr<ModuleAllocation>
ModuleAllocation::forEachFunction(ModuleOp module, MakeFrameFn makeFrame) {
  ModuleAllocation result;
  ModuleCallGraph callGraph(module);
  for (FunctionOpInterface function : callGraph.getFunctions()) {
    if (callGraph.isRecursive(function))
      return function.emitError("recursive functions cannot get shared memory");
    if (failed(checkResults(function)))
      return failure();
    auto calleeSize = [&](CallOpInterface call) -> int64_t {
      auto it = result.allocations.find(call.resolveCallable());
      return it == result.allocations.end() ? 0
                                            : it->second->getSharedMemorySize();
    };
    FailureOr<std::unique_ptr<Allocation>> frame =
        makeFrame(function, calleeSize);
    if (failed(frame))
      return failure();
    result.allocations[function] = std::move(*frame);
  }
  return result;
}

FailureOr<ModuleAllocation> ModuleAllocation::compute(ModuleOp module) {
  return forEachFunction(
      module,
      [](FunctionOpInterface function, Allocation::CalleeSizeFn calleeSize)
          -> FailureOr<std::unique_ptr<Allocation>> {
        if (failed(checkEnd(function)))
          return failure();
        return std::make_unique<Allocation>(function, calleeSize);
      });
}

FailureOr<ModuleAllocation> ModuleAllocation::read(ModuleOp module) {
  return forEachFunction(module, &Allocation::read);
}

int64_t ModuleAllocation::getSharedMemorySize() const {
  int64_t size = 0;
  for (auto &[function, allocation] : allocations)
    size = std::max(size, allocation->getSharedMemorySize());
  return size;
}

void triton::attachAllocation(ModuleOp module,
                              const ModuleAllocation &allocation) {
  Builder builder(module.getContext());
  for (auto &[function, frame] : allocation.getFunctions())
    for (const Allocation::Buffer &buffer : frame->getBuffers())
      buffer.owner->setAttr(kAllocationOffsetAttrName,
                            builder.getI32IntegerAttr(buffer.offset));
  module->setAttr(gpu::kSharedAttrName,
                  builder.getI32IntegerAttr(allocation.getSharedMemorySize()));
}
