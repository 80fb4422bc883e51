//===-- ConcurrencySanitizer.cpp - Races and misuse of barriers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// First, operations are described as events. Then, calls of the library of
// checks are put in for them. A check may fail because of any other access to
// the same buffer: their lines are in the messages.
//
//===----------------------------------------------------------------------===//

#include "WatchedBuffers.h"

#include "tile/Analysis/AsyncWork.h"
#include "tile/Analysis/TokenOrigins.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Rules/ConcurrencyState.h"
#include "tile/Rules/Rules.h"
#include "tile/Support/SourcePlace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::triton::instrument {
#define GEN_PASS_DEF_TRITONINSTRUMENTCONCURRENCYSANITIZER
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h.inc"
} // namespace mlir::triton::instrument

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia_gpu;
using tile::Rule;

namespace {
/// An access to a buffer, by the threads, by an engine of theirs, or by a copy
/// that completes on an mbarrier.
struct Access {
  Operation *op;
  Value buffer;
  bool writes;
  ConsanEngine engine = ConsanSelf;
  Value barrier = {}, pred = {};
  int64_t moved = 0;
  instrument::WatchedView view = {};
  unsigned partition = 0;

  bool isAsync() const { return engine != ConsanSelf || barrier; }
};

bool isSharedBuffer(Value value) {
  auto type = dyn_cast<MemDescType>(value.getType());
  return type && isa_and_nonnull<SharedMemorySpaceAttr>(type.getMemorySpace());
}

/// The bytes that a copy brings to a buffer.
int64_t getBytes(Value buffer) {
  auto type = cast<MemDescType>(buffer.getType());
  return type.getNumElements() *
         llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

/// The mbarrier of an operation; null for others.
Value getBarrier(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<InitBarrierOp, InvalBarrierOp, BarrierExpectOp, WaitBarrierOp,
            ArriveBarrierOp>([](auto use) { return use.getAlloc(); })
      .Case<AsyncCopyMbarrierArriveOp, AsyncTMACopyGlobalToLocalOp,
            AsyncTMAGatherOp, AsyncSharedStoreOp>(
          [](auto use) { return use.getBarrier(); })
      .Default([](Operation *) { return Value(); });
}

Value getPred(Operation *op) {
  auto predicated = dyn_cast<PredicatedOpInterface>(op);
  if (!predicated)
    return {};
  MutableOperandRange pred = predicated.getPredMutable();
  return pred.empty() ? Value() : pred[0].get();
}

std::optional<ConsanEngine> getEngine(Operation *op) {
  std::optional<AsyncWork> work = getAsyncWork(op);
  if (!work)
    return std::nullopt;
  switch (*work) {
  case AsyncWork::BarrierCopy:
  case AsyncWork::TensorCore:
    // These are accesses of what takes a barrier.
    return std::nullopt;
  case AsyncWork::Copy:
    return ConsanCopy;
  case AsyncWork::Store:
    return ConsanStore;
  case AsyncWork::Product:
    return ConsanProduct;
  }
  llvm_unreachable("unknown work");
}

/// What an operation accesses; fails for one that runs on in a way that is not
/// known here.
FailureOr<SmallVector<Access>> getAccesses(Operation *op) {
  SmallVector<Access> accesses;
  if (isa<InitBarrierOp, InvalBarrierOp, BarrierExpectOp, WaitBarrierOp,
          ArriveBarrierOp, AsyncCopyMbarrierArriveOp, LocalDeallocOp>(op))
    return accesses;
  if (isa<BarrierUserOpInterface>(op)) {
    Value barrier = getBarrier(op);
    auto copy = dyn_cast<AsyncCopyOpInterface>(op);
    if (!barrier || !copy)
      return failure();
    Value target = copy.getCopyTarget();
    accesses.push_back(
        {op, target, true, ConsanSelf, barrier, getPred(op), getBytes(target)});
    return accesses;
  }
  // The hardware writes its answer as a copy does.
  if (auto ask = dyn_cast<CLCTryCancelOp>(op)) {
    Value answer = ask.getResult();
    accesses.push_back({op, answer, true, ConsanSelf, ask.getMbarrier(),
                        /*pred=*/{}, getBytes(answer)});
    return accesses;
  }
  if (std::optional<ConsanEngine> engine = getEngine(op)) {
    for (Value buffer : getBuffersOfAsyncWork(op))
      accesses.push_back({op, buffer, *engine == ConsanCopy, *engine});
    return accesses;
  }
  if (auto product = dyn_cast<MatrixProductOpInterface>(op);
      product && product.isAsync())
    return failure();
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  for (const MemoryEffects::EffectInstance &effect : found) {
    bool writes = isa<MemoryEffects::Write>(effect.getEffect());
    Value value = effect.getValue();
    if (value && isSharedBuffer(value) &&
        (writes || isa<MemoryEffects::Read>(effect.getEffect())))
      accesses.push_back({op, value, writes});
  }
  // A buffer that is made of a tensor.
  if (auto alloc = dyn_cast<LocalAllocOp>(op);
      alloc && alloc.getSrc() && alloc.isSharedMemoryAlloc()) {
    accesses.clear();
    accesses.push_back({op, alloc.getResult(), true});
  }
  return accesses;
}

/// How many groups, stores or dots a wait leaves under way.
std::optional<std::pair<ConsanEngine, unsigned>>
getWait(Operation *op, const TokenOrigins &origins) {
  if (auto wait = dyn_cast<MatrixProductWaitOpInterface>(op))
    return std::pair(ConsanProduct, unsigned(wait.getMaxPendings()));
  if (auto wait = dyn_cast<AsyncWaitOp>(op))
    return std::pair(ConsanCopy,
                     origins.getMaxPendings(op).value_or(wait.getNum()));
  if (auto wait = dyn_cast<AsyncTMAStoreWaitOp>(op))
    return std::pair(ConsanStore,
                     origins.getMaxPendings(op).value_or(wait.getPendings()));
  return std::nullopt;
}

/// Instruments one kernel.
class Instrumenter {
public:
  explicit Instrumenter(FuncOp kernel)
      : kernel(kernel), b(kernel.getContext()), origins(kernel),
        buffers(kernel, findBarriers(kernel)) {}

  /// Fails where an operation is not known.
  LogicalResult run() {
    if (buffers.getRoots().empty())
      return success();
    numberPartitions();
    if (failed(describe()))
      return failure();
    begin();
    for (const instrument::WatchedRoot &root : buffers.getRoots())
      alloc(root);
    for (unsigned site = 0; site < accesses.size(); ++site)
      check(site);
    for (Operation *op : others)
      checkOther(op);
    return success();
  }

  unsigned getNumChecked() const { return accesses.size() + others.size(); }

private:
  static llvm::DenseSet<Value> findBarriers(FuncOp kernel) {
    llvm::DenseSet<Value> found;
    kernel.walk([&](Operation *op) {
      if (Value barrier = getBarrier(op))
        found.insert(barrier);
    });
    return found;
  }

  //===--------------------------------------------------------------------===//
  // What is there
  //===--------------------------------------------------------------------===//

  void numberPartitions() {
    kernel.walk<WalkOrder::PreOrder>([&](WarpSpecializeOp op) {
      firstPartition[op] = numPartitions;
      numPartitions += op.getPartitionRegions().size();
    });
  }

  /// The group of warps that runs an operation.
  unsigned getPartition(Operation *op) const {
    for (Region *region = op->getParentRegion(); region;
         region = region->getParentRegion()) {
      Operation *parent = region->getParentOp();
      if (isa<WarpSpecializePartitionsOp>(parent))
        return firstPartition.lookup(parent->getParentOp()) +
               region->getRegionNumber();
      if (isa<FuncOp>(parent))
        break;
    }
    return 0;
  }

  LogicalResult describe() {
    WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
      FailureOr<SmallVector<Access>> found = getAccesses(op);
      if (failed(found))
        return op->emitError("the sanitizer of concurrency does not know '")
               << op->getName() << "'";
      for (Access &access : *found)
        if (failed(add(access)))
          return WalkResult::interrupt();
      auto wait = getWait(op, origins);
      if (wait && wait->first == ConsanCopy)
        numGroups = std::max(numGroups, wait->second + 1);
      if (!wait && op->hasTrait<WaitsForCopies>())
        return op->emitError(
                   "the sanitizer of concurrency does not know what '")
               << op->getName() << "' waits for";
      if (wait || (getBarrier(op) && found->empty()) ||
          (isa<MatrixProductOpInterface>(op) && !found->empty() &&
           !getEngine(op)) ||
          isa<AsyncCommitGroupOp, LocalDeallocOp, WarpSpecializeOp, WarpYieldOp,
              WarpReturnOp, ReturnOp>(op))
        others.push_back(op);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult add(Access access) {
    std::optional<instrument::WatchedView> view =
        buffers.getView(access.buffer);
    if (access.barrier && !view)
      return access.op->emitError("the sanitizer of concurrency does not know "
                                  "which part of a buffer this copy writes");
    if (!view) {
      access.op->emitWarning(
          "this access is not checked: it is not known which "
          "part of a buffer it is to");
      return success();
    }
    access.view = *view;
    access.partition = getPartition(access.op);
    accesses.push_back(access);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  struct Message {
    int32_t code;
    std::string text;
  };

  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }

  Operation *call(StringRef name, ArrayRef<Value> args,
                  ArrayRef<Message> messages = {}, bool everyThread = false) {
    SmallVector<Value> all{getState()};
    llvm::append_range(all, args);
    SmallVector<int32_t> codes;
    SmallVector<StringRef> texts;
    for (const Message &message : messages) {
      codes.push_back(message.code);
      texts.push_back(message.text);
    }
    return instrument::CheckOp::create(
        b, loc, b.getStringAttr("tile_consan_" + name), all, everyThread,
        b.getDenseI32ArrayAttr(codes), b.getStrArrayAttr(texts));
  }

  /// The state where `b` is; partitions take it as an argument.
  Value getState() {
    Region *region = b.getInsertionBlock()->getParent();
    while (region->getParentOp() != kernel.getOperation()) {
      if (auto it = stateOf.find(region); it != stateOf.end())
        return it->second;
      region = region->getParentRegion();
    }
    return state;
  }

  void before(Operation *op) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
  }
  void after(Operation *op) {
    b.setInsertionPointAfter(op);
    loc = op->getLoc();
  }

  static Message describeRule(Rule rule, unsigned site = 0,
                              const std::string &where = "") {
    const tile::RuleText &text = tile::textOf(rule);
    return {int32_t(unsigned(rule) | site << 8),
            (Twine(text.kind) + ": " + text.text + where).str()};
  }
  static std::string inLine(Operation *op) {
    return " in line " + std::to_string(getSourcePlace(op).line);
  }

  //===--------------------------------------------------------------------===//
  // The kernel, its partitions, its buffers
  //===--------------------------------------------------------------------===//

  void begin() {
    Block &entry = kernel.getBody().front();
    b.setInsertionPointToStart(&entry);
    loc = kernel.getLoc();
    ConsanCounts counts{numPartitions, buffers.getNumBarriers(),
                        unsigned(buffers.getRoots().size()),
                        buffers.getNumUnits(), numGroups};
    state = GlobalScratchAllocOp::create(
        b, loc, PointerType::get(b.getI8Type(), 1),
        b.getI32IntegerAttr(4 * consanSize(&counts)), b.getI32IntegerAttr(128));
    int64_t threads =
        int64_t(lookupNumWarps(kernel)) * lookupThreadsPerWarp(kernel);
    call("begin",
         {constant(threads), constant(counts.partitions),
          constant(counts.barriers), constant(counts.roots),
          constant(counts.units), constant(counts.groups)},
         {}, /*everyThread=*/true);
    BarrierOp::create(b, loc, AddrSpace::All);
    call("start", {});
    for (auto [op, first] : firstPartition) {
      auto specialize = cast<WarpSpecializeOp>(op);
      specialize.getExplicitCapturesMutable().append(state);
      for (Region &region : specialize.getPartitionRegions())
        stateOf[&region] = region.addArgument(state.getType(), op->getLoc());
    }
  }

  void alloc(const instrument::WatchedRoot &root) {
    LocalAllocOp op = root.alloc;
    after(op);
    noted[op] = call(
        "alloc", {constant(root.number), op.getResult(), constant(root.bytes),
                  constant(root.unitBytes), constant(root.first),
                  constant(root.isBarrier ? root.getNumUnits() : 0)});
  }

  //===--------------------------------------------------------------------===//
  // Accesses
  //===--------------------------------------------------------------------===//

  static bool haveCommonRoot(const Access &x, const Access &y) {
    for (unsigned root = 0; root < 32; ++root)
      if (x.view.roots >> root & 1) {
        int64_t other =
            int64_t(x.view.firstRoot) + root - int64_t(y.view.firstRoot);
        if (other >= 0 && other < 32 && (y.view.roots >> other & 1))
          return true;
      }
    return false;
  }

  /// What can be wrong with an access: one message for each other one.
  SmallVector<Message> getMessages(unsigned site) {
    const Access &access = accesses[site];
    SmallVector<Message> messages{describeRule(Rule::BufferGivenBack)};
    std::string name = buffers.getRoots()[access.view.firstRoot].getName();
    if (!access.writes)
      messages.push_back(describeRule(Rule::NotWritten, 0, " (" + name + ")"));
    for (auto [number, other] : llvm::enumerate(accesses)) {
      if (!(access.writes || other.writes) || !haveCommonRoot(access, other))
        continue;
      Rule rule = other.isAsync() ? Rule::AsyncUnfinished : Rule::Unordered;
      // A group of warps knows what it has done itself.
      if (!other.isAsync() && other.partition == access.partition)
        continue;
      const tile::RuleText &text = tile::textOf(rule);
      messages.push_back(
          {int32_t(unsigned(rule) | (number + 1) << 8),
           std::string(text.kind) + ": " +
               tile::describeRace(access.writes, name, other.isAsync(),
                                  other.writes, inLine(other.op), text.text)});
    }
    return messages;
  }

  SmallVector<Value> getPlace(const Access &access) {
    return {constant(access.partition),
            constant(access.view.firstRoot),
            constant(int32_t(access.view.roots)),
            access.buffer,
            constant(access.view.bytes),
            constant(int32_t(access.view.cells)),
            constant(access.view.numCells)};
  }

  void check(unsigned site) {
    const Access &access = accesses[site];
    // What an allocation is filled with comes when it is noted.
    if (Operation *alloc = noted.lookup(access.op))
      after(alloc);
    else
      before(access.op);
    SmallVector<Message> messages = getMessages(site);
    Value number = constant(site + 1);
    if (access.barrier) {
      appendUses(messages);
      messages.push_back(describeRule(Rule::TransactionRange));
      SmallVector<Value> args = getPlace(access);
      llvm::append_range(args, getPlaceOfBarrier(access.barrier));
      args.push_back(constant(access.moved));
      args.push_back(number);
      args.push_back(getOrTrue(access.pred));
      call("transfer", args, messages);
      return;
    }
    bool isFirst = site == 0 || accesses[site - 1].op != access.op;
    if (access.engine != ConsanSelf && isFirst)
      call("issue", {constant(access.partition), constant(access.engine)});
    SmallVector<Value> args = getPlace(access);
    llvm::append_range(args,
                       SmallVector<Value>{constant(access.engine),
                                          constant(access.writes), number});
    call("access", args, messages);
  }

  //===--------------------------------------------------------------------===//
  // Waits, mbarriers, control
  //===--------------------------------------------------------------------===//

  static void appendUses(SmallVectorImpl<Message> &messages) {
    messages.push_back(describeRule(Rule::NotInitialized));
    messages.push_back(describeRule(Rule::InitUnknown));
  }

  Value getOrTrue(Value pred) { return pred ? pred : constant(1); }

  /// The allocations that an mbarrier may be in, and its address.
  SmallVector<Value> getPlaceOfBarrier(Value barrier) {
    SmallVector<unsigned> roots = buffers.getRootsOf(barrier);
    uint32_t set = 0;
    for (unsigned root : roots)
      if (root - roots.front() < 32)
        set |= 1u << (root - roots.front());
    return {constant(roots.empty() ? 0 : roots.front()), constant(int32_t(set)),
            barrier};
  }

  void checkOther(Operation *op) {
    before(op);
    unsigned partition = getPartition(op);
    Value p = constant(partition);
    if (Value barrier = getBarrier(op))
      return checkBarrier(op, barrier, p);
    if (auto wait = getWait(op, origins)) {
      after(op);
      p = constant(partition);
      call("wait", {p, constant(wait->first), constant(wait->second)});
      return;
    }
    if (isa<MatrixProductOpInterface>(op)) {
      // It waits for all before it, too.
      after(op);
      p = constant(partition);
      call("wait", {p, constant(ConsanProduct), constant(0)});
      return;
    }
    if (isa<AsyncCommitGroupOp>(op)) {
      call("commit", {p});
      return;
    }
    if (auto dealloc = dyn_cast<LocalDeallocOp>(op)) {
      SmallVector<unsigned> roots = buffers.getRootsOf(dealloc.getSrc());
      if (roots.size() == 1)
        call("dealloc", {constant(roots.front())});
      return;
    }
    if (isa<WarpYieldOp, WarpReturnOp>(op)) {
      call("end", {p}, {describeRule(Rule::NobodyGoesOn)});
      return;
    }
    if (auto specialize = dyn_cast<WarpSpecializeOp>(op)) {
      unsigned count = specialize.getPartitionRegions().size();
      unsigned first = firstPartition.lookup(op);
      call("fork", {constant(first), constant(count)});
      after(op);
      call("join", {constant(first), constant(count)});
      return;
    }
    SmallVector<Message> messages;
    for (auto [number, access] : llvm::enumerate(accesses))
      if (access.isAsync())
        messages.push_back(
            describeRule(Rule::AsyncAtExit, number + 1,
                         (access.writes ? " (the write" : " (the read") +
                             inLine(access.op) + ")"));
    call("exit", {}, messages);
  }

  void checkBarrier(Operation *op, Value barrier, Value p) {
    SmallVector<Value> args{p};
    llvm::append_range(args, getPlaceOfBarrier(barrier));
    SmallVector<Message> messages;
    if (auto init = dyn_cast<InitBarrierOp>(op)) {
      args.push_back(constant(init.getCount()));
      call("init", args,
           {describeRule(Rule::InitializedTwice),
            describeRule(Rule::InitUnordered)});
      return;
    }
    appendUses(messages);
    if (isa<InvalBarrierOp>(op)) {
      messages.push_back(describeRule(Rule::EndUnordered));
      call("inval", args, messages);
      return;
    }
    if (auto wait = dyn_cast<WaitBarrierOp>(op)) {
      args.append({wait.getPhase(), getOrTrue(wait.getPred())});
      messages.push_back(describeRule(Rule::NobodyGoesOn));
      call("wait_begin", args, messages);
      after(op);
      call("wait_end", args);
      return;
    }
    messages.push_back(describeRule(Rule::TooManyArrivals));
    messages.push_back(describeRule(Rule::TransactionRange));
    int64_t count = 0, expect = 0;
    bool copies = false;
    if (auto arrive = dyn_cast<ArriveBarrierOp>(op)) {
      count = arrive.getCount();
    } else if (auto announce = dyn_cast<BarrierExpectOp>(op)) {
      count = 1;
      expect = announce.getSize();
    } else {
      // Each thread arrives; the others announce themselves first.
      copies = true;
      if (cast<AsyncCopyMbarrierArriveOp>(op).getNoIncrement())
        count = int64_t(lookupNumWarps(op)) * lookupThreadsPerWarp(kernel);
    }
    args.append({constant(count), constant(expect), constant(copies),
                 getOrTrue(getPred(op))});
    call("arrive", args, messages);
  }

  FuncOp kernel;
  OpBuilder b;
  Location loc = UnknownLoc::get(kernel.getContext());
  TokenOrigins origins;
  instrument::WatchedBuffers buffers;
  llvm::MapVector<Operation *, unsigned> firstPartition;
  unsigned numPartitions = 1, numGroups = 1;
  SmallVector<Access> accesses;
  SmallVector<Operation *> others;
  /// For each allocation, where the checks learn of it.
  llvm::DenseMap<Operation *, Operation *> noted;
  Value state;
  llvm::DenseMap<Region *, Value> stateOf;
};

struct ConcurrencySanitizer
    : instrument::impl::TritonInstrumentConcurrencySanitizerBase<
          ConcurrencySanitizer> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (lookupNumCTAs(module) > 1) {
      emitError(module.getLoc(), "the sanitizer of concurrency is for programs "
                                 "of one block, and not for clusters");
      return signalPassFailure();
    }
    for (FuncOp function : module.getOps<FuncOp>()) {
      if (function.isExternal())
        continue;
      if (!function.isPublic()) {
        if (failed(checkCallee(function)))
          return signalPassFailure();
        continue;
      }
      Instrumenter instrumenter(function);
      if (failed(instrumenter.run()))
        return signalPassFailure();
      numChecked += instrumenter.getNumChecked();
    }
  }

private:
  /// Functions that are called have their own buffers at most.
  static LogicalResult checkCallee(FuncOp function) {
    WalkResult result = function.walk([](LocalAllocOp alloc) -> WalkResult {
      return alloc.emitError("the sanitizer of concurrency does not look into "
                             "functions that are called");
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
