//===-- ProxyOrder.cpp - TMA among other accesses to memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProxyOrder.h"

#include "tile/Analysis/AsyncWork.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

//===----------------------------------------------------------------------===//
// What operations do
//===----------------------------------------------------------------------===//

bool nvidia_gpu::isDescriptorStore(Operation *op) {
  return isa<DescriptorStoreOp, DescriptorReduceOp, DescriptorScatterOp>(op);
}

/// Whether `op` may write by copies that run on behind it.
static bool mayStartWrites(Operation *op) {
  return isDescriptorStore(op) || getAsyncWork(op) == AsyncWork::Store ||
         isa<CallOpInterface>(op);
}

/// Whether `op`, or something in it, may start a copy.
static bool mayCopy(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool may = isa<CallOpInterface>(inner) ||
                   llvm::any_of(inner->getOperandTypes(),
                                llvm::IsaPred<TensorDescType>);
        return may ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `op` accesses memory through a descriptor, and so by the copy
/// engine.
static bool isByEngine(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorDescType>);
}

/// Whether threads may access memory by `op`, themselves, or tell each other
/// that they did. Our own operations say what they access (`forEachAccess`).
static bool isThreads(Operation *op) {
  if (isa<triton::gpu::BarrierOp>(op))
    return true;
  return !op->hasTrait<mlir::OpTrait::IsTerminator>() &&
         !isa<FunctionOpInterface>(op) && !isByEngine(op) &&
         !isa_and_nonnull<TritonNvidiaGPUDialect,
                          triton::gpu::TritonGPUDialect>(op->getDialect());
}

/// Whether `op` is a barrier of the block. It hands on what each thread wrote
/// or acquired itself, and has fenced there.
static bool isBarrier(Operation *op) {
  return isa<mlir::gpu::BarrierOp, triton::gpu::BarrierOp>(op);
}

/// Calls `visit` with the addresses and descriptors through which `op` itself
/// accesses global memory, by its memory effects. What does not say where it
/// accesses memory orders everything (`isRelease`, `isAcquire`).
template <typename... Effects>
static void forEachAccess(Operation *op, function_ref<void(Value)> visit) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (isa<Effects...>(effect.getEffect()) && effect.getValue() &&
        !isa<triton::gpu::SharedMemory, TensorMemory>(effect.getResource()))
      visit(effect.getValue());
}

//===----------------------------------------------------------------------===//
// Order in a function
//===----------------------------------------------------------------------===//

/// The outermost loop or branch around `op` that copies nothing, or `op`.
static Operation *skipIdleRegions(Operation *op) {
  for (Operation *parent = op->getParentOp();
       isa<scf::SCFDialect>(parent->getDialect()) && !mayCopy(parent);
       parent = op->getParentOp())
    op = parent;
  return op;
}

/// Whether a copy may follow `op` before another one of `places` does.
static bool isCopyNext(Operation *op,
                       const llvm::SetVector<Operation *> &places) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (places.contains(next))
      return false;
    else if (mayCopy(next))
      return true;
  // Kernels end; from other blocks something goes on.
  auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
  return !function || !function.isPublic();
}

/// Whether `test` holds for something in the kernel around `op` that may run
/// after it.
static bool anyAfter(Operation *op, function_ref<bool(Operation *)> test) {
  auto holdsIn = [&](Operation *root) {
    return root
        ->walk([&](Operation *inner) {
          return test(inner) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  while (true) {
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      if (holdsIn(next))
        return true;
    // Of loops all comes again; blocks are left for others, regions run beside
    // others.
    Operation *parent = op->getParentOp();
    bool runsOnce = isa<scf::IfOp, FunctionOpInterface>(parent) &&
                    op->getParentRegion()->hasOneBlock();
    if (!runsOnce && holdsIn(parent))
      return true;
    if (isa<FunctionOpInterface>(parent))
      return false;
    op = parent;
  }
}

//===----------------------------------------------------------------------===//
// ProxyOrder
//===----------------------------------------------------------------------===//

ProxyOrder::ProxyOrder(FunctionOpInterface function)
    : function(function),
      memory(function, MemoryModel::Arguments::AssumedDisjoint) {
  function->walk([&](Operation *op) {
    if (isDescriptorStore(op))
      stored.insert(op->getOperand(0));
    else if (isByEngine(op))
      forEachAccess<MemoryEffects::Read>(op, [&](Value desc) {
        if (isa<TensorDescType>(desc.getType()))
          loaded.insert(desc);
      });
  });
}

void ProxyOrder::insertFences() {
  if (loaded.empty() && stored.empty())
    return;
  llvm::SetVector<Operation *> places;
  llvm::SmallPtrSet<Operation *, 4> writes;
  function->walk([&](Operation *op) {
    if (!isThreads(op))
      return;
    if (writesAny(op, loaded) || writesAny(op, stored)) {
      writes.insert(op);
      places.insert(op);
    } else if (isAcquire(op) && !isBarrier(op)) {
      places.insert(skipIdleRegions(op));
    }
  });
  for (Operation *op : places) {
    if (!writes.contains(op) && !isCopyNext(op, places))
      continue;
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    FenceAsyncGlobalOp::create(builder, op->getLoc());
  }
}

bool ProxyOrder::isObserved(Operation *store, Block *except) {
  // Others go on where functions that are called end.
  return !function.isPublic() || anyAfter(store, [&](Operation *op) {
    bool counts = !except || !except->findAncestorOpInBlock(*op);
    return counts && observesStores(op);
  });
}

bool ProxyOrder::followsCopies(Operation *store) {
  if (!function.isPublic())
    return true;
  return function
      ->walk([&](Operation *op) {
        bool runsOn = mayStartWrites(op) && anyAfter(op, [&](Operation *later) {
                        return later == store;
                      });
        return runsOn ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void ProxyOrder::noteAssumptions() {
  noteDisjointArguments(function, memory.getAssumptions());
}

bool ProxyOrder::mayAliasAny(Value address, const Descriptors &descriptors) {
  return llvm::any_of(
      descriptors, [&](Value desc) { return memory.mayAlias(address, desc); });
}

template <typename... Effects>
bool ProxyOrder::accesses(Operation *op, const Descriptors &descriptors) {
  bool found = false;
  forEachAccess<Effects...>(op, [&](Value address) {
    found = found || mayAliasAny(address, descriptors);
  });
  return found;
}

bool ProxyOrder::writesAny(Operation *op, const Descriptors &descriptors) {
  return accesses<MemoryEffects::Write>(op, descriptors);
}

bool ProxyOrder::observesStores(Operation *op) {
  // Stores wait for each other.
  if (isDescriptorStore(op))
    return false;
  return (isThreads(op) && isRelease(op)) ||
         accesses<MemoryEffects::Read, MemoryEffects::Write>(op, stored);
}
