//===-- WarpSpecializeToLLVM.cpp - convert-warp-specialize-to-llvm --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The default group leaves a number in shared memory: that of the operation
// that starts, or kExit. Each operation has scratch memory of its own, with
// eight bytes for each scalar that its partitions capture. Barrier 0, that of
// all threads, starts an operation and ends it. Nobody else uses this barrier.
// The default groups of the blocks of a cluster wait for each other at
// mbarriers, and so do those of each partition (ClusterMbarriers.cpp).
//
//===----------------------------------------------------------------------===//

#include "ClusterMbarriers.h"

#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/Transforms/WarpGroups.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CONVERTWARPSPECIALIZETOLLVM
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {

constexpr int kExit = -1;
constexpr int kClusterMbarrier = 8;
constexpr int kFirstMbarrier = 16;
constexpr int kMbarrierBytes = 8;
constexpr int kCaptureBytes = 8;
constexpr int kWarpsPerGroup = 4;

/// The scalars that a value in the LLVM dialect consists of.
SmallVector<Type> getScalars(Type type) {
  if (auto aggregate = dyn_cast<LLVM::LLVMStructType>(type))
    return llvm::to_vector(aggregate.getBody());
  return {type};
}

/// Makes, at `builder`, a value that every thread can compute for itself: one
/// of constants and arguments of the kernel. Null for others.
Value rematerialize(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def) {
    bool isArgument = isa<LLVM::LLVMFuncOp>(
        cast<BlockArgument>(value).getOwner()->getParentOp());
    return isArgument && value.getParentBlock()->isEntryBlock() ? value
                                                                : Value();
  }
  if (!isa<LLVM::ConstantOp, LLVM::AddressOfOp, LLVM::GEPOp,
           LLVM::InsertValueOp, LLVM::ExtractValueOp, LLVM::UndefOp,
           LLVM::PoisonOp, LLVM::ZeroOp>(def))
    return {};
  for (Value operand : def->getOperands())
    if (Value same = rematerialize(builder, operand, mapping))
      mapping.map(operand, same);
    else
      return {};
  Value same = builder.clone(*def, mapping)
                   ->getResult(cast<OpResult>(value).getResultNumber());
  mapping.map(value, same);
  return same;
}

class KernelLowering {
public:
  KernelLowering(LLVM::LLVMFuncOp kernel, ArrayRef<ttg::WarpSpecializeOp> ops,
                 bool canMoveRegisters)
      : kernel(kernel), ops(ops.begin(), ops.end()),
        canMoveRegisters(canMoveRegisters), builder(kernel.getContext()),
        b(kernel.getLoc(), builder) {
    auto module = kernel->getParentOfType<ModuleOp>();
    threadsPerWarp = ttg::lookupThreadsPerWarp(module);
    firstRegisters = ttg::getFirstRegisters(module);
    numDefaultWarps = ttg::lookupNumWarps(module);
    numWarps = module->getAttrOfType<IntegerAttr>(ttg::kTotalNumWarpsAttrName)
                   .getInt();
  }

  LogicalResult run() {
    FailureOr<bool> allWarpsWait = lowerClusterBarriers();
    if (failed(allWarpsWait))
      return failure();
    SmallVector<LLVM::ReturnOp> returns(
        kernel.getBody().getOps<LLVM::ReturnOp>());
    for (ttg::WarpSpecializeOp op : ops)
      for (Value capture : op.getExplicitCaptures())
        known[op].push_back(isKnown(capture));
    splitEntry();
    Block *exit = addBlock(), *wait = addBlock(), *done = addBlock();
    Block *arrive = wait;
    if (*allWarpsWait) {
      arrive = addBlock();
      nvidia::emitClusterBarrier(at(arrive));
      b.create<LLVM::BrOp>(wait);
    }
    enterWaiting(arrive);

    // The warps behind the default ones.
    at(wait);
    barrier();
    Value work = b.create<LLVM::LoadOp>(b.intTy(32), getScratch(ops[0], 0));
    Block *next = addBlock();
    branch(b.eq(work, b.i32(kExit)), exit, next);
    for (auto [i, op] : llvm::enumerate(ops)) {
      Block *dispatch = next;
      if (i + 1 < ops.size()) {
        at(next);
        dispatch = addBlock();
        next = addBlock();
        branch(b.eq(work, b.i32(i)), dispatch, next);
      }
      sendToPartitions(op, dispatch, done);
    }
    at(done);
    barrier();
    auto back = b.create<LLVM::BrOp>(wait);
    back.setLoopAnnotationAttr(keepInLoop());
    at(exit);
    b.create<LLVM::ReturnOp>(ValueRange());

    // The default group.
    for (auto [i, op] : llvm::enumerate(ops))
      runDefaultRegion(op, i);
    for (LLVM::ReturnOp op : returns) {
      byFirstThread(op, [&] { setWork(kExit); });
      builder.setInsertionPoint(op);
      barrier();
    }
    // Their attributes were asked until now.
    for (ttg::WarpSpecializeOp op : ops)
      op.erase();
    return success();
  }

private:
  /// Returns whether the warps behind the default ones come to the barrier of
  /// the cluster, before all else.
  FailureOr<bool> lowerClusterBarriers() {
    unsigned numBlocks = ttg::lookupNumCTAs(kernel);
    if (numBlocks == 1)
      return false;
    SmallVector<nvidia::WaitingWarps> groups{
        {/*partition=*/nullptr, /*firstWarp=*/0, unsigned(numDefaultWarps),
         getBarrierOfGroup(0)}};
    for (ttg::WarpSpecializeOp op : ops)
      for (auto [i, partition] : llvm::enumerate(op.getPartitionRegions()))
        groups.push_back({&partition, unsigned((*op.getWarpGroupStartIds())[i]),
                          unsigned(op.getPartitionNumWarps()[i]),
                          getBarrierOfGroup(i + 1)});
    auto getAddress = [&](const LLVMBuilder &b,
                          const nvidia::WaitingWarps &group) {
      if (!group.partition)
        return getScratch(b, ops[0], kClusterMbarrier);
      auto op = group.partition->getParentOfType<ttg::WarpSpecializeOp>();
      return getScratch(
          b, op,
          kFirstMbarrier + kMbarrierBytes * group.partition->getRegionNumber());
    };
    return nvidia::useMbarriersOfClusters(
        kernel, {numBlocks, threadsPerWarp, groups, getAddress});
  }

  /// Barrier 0 is that of the whole block.
  static unsigned getBarrierOfGroup(unsigned group) { return group + 1; }

  //===--------------------------------------------------------------------===//
  // Blocks
  //===--------------------------------------------------------------------===//

  Block *addBlock() { return &kernel.getBody().emplaceBlock(); }

  /// The place of what is made next.
  const LLVMBuilder &at(Block *block) {
    builder.setInsertionPointToEnd(block);
    return b;
  }

  void branch(Value condition, Block *yes, Block *no) {
    b.create<LLVM::CondBrOp>(condition, yes, no);
  }

  void barrier() { b.create<NVVM::Barrier0Op>(); }

  /// Has what partitions compute stay in them. In front of the loop in which
  /// warps wait for work, it would take registers of those that have the least.
  LLVM::LoopAnnotationAttr keepInLoop() {
    MLIRContext *context = kernel.getContext();
    auto licm = LLVM::LoopLICMAttr::get(
        context, /*disable=*/builder.getBoolAttr(true),
        /*versioningDisable=*/builder.getBoolAttr(true));
    return LLVM::LoopAnnotationAttr::get(
        context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
        /*unroll=*/{}, /*unrollAndJam=*/{}, licm, /*distribute=*/{},
        /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
        /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
        /*parallelAccesses=*/{});
  }

  /// Leaves in the entry block what has to be there, and the place of the
  /// thread.
  void splitEntry() {
    Block *entry = &kernel.getBody().front();
    start = entry->splitBlock(entry->begin());
    for (auto variable :
         llvm::make_early_inc_range(start->getOps<LLVM::AllocaOp>())) {
      if (Operation *size = variable.getArraySize().getDefiningOp())
        size->moveBefore(entry, entry->end());
      variable->moveBefore(entry, entry->end());
    }
    at(entry);
    thread = b.create<NVVM::ThreadIdXOp>(b.intTy(32));
    Value number = b.lshr(thread, b.i32(llvm::Log2_32(threadsPerWarp)));
    // All lanes agree; say so, for the branches.
    warp = b.create<NVVM::ShflOp>(b.intTy(32), b.i32(-1), number, b.i32(0),
                                  b.i32(0x1f), NVVM::ShflKind::idx, UnitAttr());
  }

  /// From the entry to the kernel's start, or to `wait`, where the other warps
  /// begin.
  void enterWaiting(Block *wait) {
    Block *others = wait;
    if (movesRegisters()) {
      builder.setInsertionPointToStart(start);
      setRegisters(firstRegisters, ops.front().getActualRegisters()->front());
      // All warps of a warp group execute the same instruction.
      Block *next = addBlock();
      others = next;
      for (int group = numDefaultWarps / kWarpsPerGroup;
           group < numWarps / kWarpsPerGroup; ++group) {
        at(next);
        Block *give = addBlock();
        next = group + 1 < numWarps / kWarpsPerGroup ? addBlock() : wait;
        branch(b.slt(warp, b.i32((group + 1) * kWarpsPerGroup)), give, next);
        at(give);
        setRegisters(firstRegisters, getWaitingRegisters(group));
        b.create<LLVM::BrOp>(wait);
      }
    }
    at(&kernel.getBody().front());
    branch(b.slt(warp, b.i32(numDefaultWarps)), start, others);
  }

  //===--------------------------------------------------------------------===//
  // Registers
  //===--------------------------------------------------------------------===//

  /// Whether all operations agree on who has how many registers.
  bool movesRegisters() {
    return canMoveRegisters && llvm::all_of(ops, [&](ttg::WarpSpecializeOp op) {
             auto mine = op.getActualRegisters();
             auto first = ops.front().getActualRegisters();
             return mine && first && mine->front() == first->front();
           });
  }

  int getRegistersOfGroup(int group) {
    int most = ttg::kLeastRegisters;
    for (ttg::WarpSpecializeOp op : ops)
      for (auto [first, count, registers] :
           llvm::zip(*op.getWarpGroupStartIds(), op.getPartitionNumWarps(),
                     op.getActualRegisters()->drop_front()))
        if (first < (group + 1) * kWarpsPerGroup &&
            first + count > group * kWarpsPerGroup)
          most = std::max(most, registers);
    return most;
  }

  /// Whether all partitions that run on a warp group have whole warp groups,
  /// which can take registers.
  bool hasWholePartitions(int group) {
    for (ttg::WarpSpecializeOp op : ops)
      for (auto [first, count] :
           llvm::zip(*op.getWarpGroupStartIds(), op.getPartitionNumWarps()))
        if (first < (group + 1) * kWarpsPerGroup &&
            first + count > group * kWarpsPerGroup && count % kWarpsPerGroup)
          return false;
    return true;
  }

  /// What a group has while it waits for work: the least of all. They wait in
  /// one place, and ptxas takes what comes behind it for code with the least. A
  /// group that gets more has it in its partitions.
  int getWaitingRegisters(int group) {
    int least = firstRegisters;
    for (int other = numDefaultWarps / kWarpsPerGroup;
         other < numWarps / kWarpsPerGroup; ++other)
      least = std::min(least, getRegistersOfGroup(other));
    int own = getRegistersOfGroup(group);
    return own > firstRegisters || hasWholePartitions(group) ? least : own;
  }

  /// Changes the registers of the threads of a warp group.
  void setRegisters(int have, int count) {
    StringRef change = count < have ? "dec" : "inc";
    nvidia::PTXAsm ptx(b);
    ptx << ("setmaxnreg." + change + ".sync.aligned.u32 " + Twine(count) + ";")
               .str();
    ptx.emit({}, nvidia::PTXAsm::SideEffects);
  }

  //===--------------------------------------------------------------------===//
  // What groups tell each other
  //===--------------------------------------------------------------------===//

  Value getScratch(ttg::WarpSpecializeOp op, int byte) {
    return getScratch(b, op, byte);
  }

  Value getScratch(const LLVMBuilder &b, ttg::WarpSpecializeOp op, int byte) {
    auto offset = op->getAttrOfType<IntegerAttr>(kAllocationOffsetAttrName);
    auto module = kernel->getParentOfType<ModuleOp>();
    auto memory = module.lookupSymbol<LLVM::GlobalOp>("global_smem");
    Value base = b.create<LLVM::AddressOfOp>(memory);
    return b.gep(base, b.intTy(8), offset.getInt() + byte);
  }

  void setWork(int work) {
    b.create<LLVM::StoreOp>(b.i32(work), getScratch(ops[0], 0));
  }

  /// Before `op`, has the first thread do what `emit` makes.
  void byFirstThread(Operation *op, function_ref<void()> emit) {
    Block *before = op->getBlock();
    Block *after = before->splitBlock(op), *once = addBlock();
    at(before);
    branch(b.eq(thread, b.i32(0)), once, after);
    at(once);
    emit();
    b.create<LLVM::BrOp>(after);
  }

  /// Calls `visit(capture, offset)` for each capture, with the place of its
  /// first scalar.
  void forEachCapture(ttg::WarpSpecializeOp op,
                      function_ref<void(unsigned, int)> visit) {
    // In clusters, the partitions have mbarriers.
    int offset = kFirstMbarrier;
    if (ttg::lookupNumCTAs(kernel) > 1)
      offset += kMbarrierBytes * op.getPartitionRegions().size();
    for (auto [i, capture] : llvm::enumerate(op.getExplicitCaptures())) {
      visit(i, offset);
      offset += kCaptureBytes * getScalars(capture.getType()).size();
    }
  }

  /// Whether partitions can compute a capture for themselves.
  bool isKnown(Value capture) {
    Block scratch;
    OpBuilder nowhere(kernel.getContext());
    nowhere.setInsertionPointToStart(&scratch);
    IRMapping mapping;
    return bool(rematerialize(nowhere, capture, mapping));
  }

  //===--------------------------------------------------------------------===//
  // The partitions
  //===--------------------------------------------------------------------===//

  void sendToPartitions(ttg::WarpSpecializeOp op, Block *dispatch,
                        Block *done) {
    for (auto [partition, first, count] :
         llvm::zip(op.getPartitionRegions(), *op.getWarpGroupStartIds(),
                   op.getPartitionNumWarps())) {
      at(dispatch);
      Block *enter = addBlock();
      dispatch = addBlock();
      Value place = b.sub(warp, b.i32(first));
      branch(
          b.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ult, place, b.i32(count)),
          enter, dispatch);
      enterPartition(op, partition, first, count, enter, done);
    }
    at(dispatch).create<LLVM::BrOp>(done);
  }

  void enterPartition(ttg::WarpSpecializeOp op, Region &partition, int first,
                      int count, Block *enter, Block *done) {
    at(enter);
    int group = first / kWarpsPerGroup, waiting = 0, registers = 0;
    // All warps of a warp group change together.
    bool asksForMore = movesRegisters() && count % kWarpsPerGroup == 0 &&
                       (registers = getRegistersOfGroup(group)) >
                           (waiting = getWaitingRegisters(group));
    if (asksForMore)
      setRegisters(waiting, registers);
    forEachCapture(op, [&](unsigned capture, int offset) {
      BlockArgument argument = partition.getArgument(capture);
      if (argument.use_empty())
        return;
      Value source = op.getExplicitCaptures()[capture];
      IRMapping mapping;
      Value value = known[op][capture] ? rematerialize(builder, source, mapping)
                                       : loadCapture(op, offset, source);
      argument.replaceAllUsesWith(value);
    });
    Block *body = &partition.front();
    body->eraseArguments(0, body->getNumArguments());
    SmallVector<ttg::WarpReturnOp> ends(partition.getOps<ttg::WarpReturnOp>());
    kernel.getBody().getBlocks().splice(kernel.getBody().end(),
                                        partition.getBlocks());
    at(enter);
    b.create<LLVM::BrOp>(body);
    for (ttg::WarpReturnOp end : ends) {
      at(end->getBlock());
      if (asksForMore)
        setRegisters(registers, waiting);
      b.create<LLVM::BrOp>(done);
      end.erase();
    }
  }

  Value loadCapture(ttg::WarpSpecializeOp op, int offset, Value source) {
    Type type = source.getType();
    auto load = [&](Type scalar, int i) -> Value {
      return b.create<LLVM::LoadOp>(scalar,
                                    getScratch(op, offset + kCaptureBytes * i));
    };
    if (!isa<LLVM::LLVMStructType>(type))
      return load(type, 0);
    Value whole = b.undef(type);
    for (auto [i, scalar] : llvm::enumerate(getScalars(type)))
      whole = b.insertVal(whole, load(scalar, i), i);
    return whole;
  }

  //===--------------------------------------------------------------------===//
  // The default group
  //===--------------------------------------------------------------------===//

  void runDefaultRegion(ttg::WarpSpecializeOp op, int number) {
    byFirstThread(op, [&] {
      setWork(number);
      forEachCapture(op, [&](unsigned capture, int offset) {
        Value source = op.getExplicitCaptures()[capture];
        if (known[op][capture])
          return;
        for (auto [i, scalar] : llvm::enumerate(getScalars(source.getType())))
          b.create<LLVM::StoreOp>(isa<LLVM::LLVMStructType>(source.getType())
                                      ? b.extractVal(source, i)
                                      : source,
                                  getScratch(op, offset + kCaptureBytes * i));
      });
    });
    Block *before = op->getBlock();
    Block *after = before->splitBlock(op->getNextNode());
    SmallVector<Value> results;
    for (Value result : op.getResults())
      results.push_back(after->addArgument(result.getType(), op.getLoc()));
    op.replaceAllUsesWith(results);
    Region &region = op.getDefaultRegion();
    Block *body = &region.front();
    SmallVector<ttg::WarpYieldOp> yields(region.getOps<ttg::WarpYieldOp>());
    kernel.getBody().getBlocks().splice(after->getIterator(),
                                        region.getBlocks());
    at(before);
    barrier();
    b.create<LLVM::BrOp>(body);
    for (ttg::WarpYieldOp yield : yields) {
      at(yield->getBlock());
      barrier();
      b.create<LLVM::BrOp>(yield.getValues(), after);
      yield.erase();
    }
    // One way to there: its values are the results.
    if (yields.size() == 1) {
      Operation *jump = after->getSinglePredecessor()->getTerminator();
      for (auto [argument, value] :
           llvm::zip(after->getArguments(), jump->getOperands()))
        argument.replaceAllUsesWith(value);
      after->eraseArguments(0, after->getNumArguments());
      jump->setOperands(ValueRange());
    }
  }

  LLVM::LLVMFuncOp kernel;
  SmallVector<ttg::WarpSpecializeOp> ops;
  bool canMoveRegisters;
  OpBuilder builder;
  LLVMBuilder b;
  unsigned threadsPerWarp;
  int firstRegisters;
  int numDefaultWarps, numWarps;
  /// For each capture, whether partitions compute it for themselves.
  llvm::DenseMap<Operation *, SmallVector<bool>> known;
  /// Where the default group starts, and who is asking.
  Block *start = nullptr;
  Value thread, warp;
};

struct ConvertWarpSpecializeToLLVM
    : nvidia::impl::ConvertWarpSpecializeToLLVMBase<
          ConvertWarpSpecializeToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      SmallVector<ttg::WarpSpecializeOp> ops;
      function.walk([&](ttg::WarpSpecializeOp op) { ops.push_back(op); });
      if (ops.empty()) {
        auto total =
            module->getAttrOfType<IntegerAttr>(ttg::kTotalNumWarpsAttrName);
        if (total && total.getInt() > ttg::lookupNumWarps(module) &&
            failed(nvidia::checkCalledFunction(function)))
          return signalPassFailure();
        continue;
      }
      FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
      if (failed(target))
        return signalPassFailure();
      KernelLowering lowering(function, ops, (*target)->hasRegisterExchange);
      if (failed(lowering.run()))
        return signalPassFailure();
    }
  }
};
} // namespace
