//===-- AsyncLoads.cpp - Loads that become asynchronous copies ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncLoads.h"
#include "Buffers.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <tuple>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// A load with what is known about it before the loop is touched.
struct AsyncLoad {
  Operation *load = nullptr;
  const CopyStrategy *strategy = nullptr;
  LoopSchedule::Place defPlace;
  /// Of the first operation that needs the value.
  LoopSchedule::Place usePlace;
  Operation *firstUser = nullptr;
  Attribute encoding;
  unsigned contiguity = 1;
  /// Whether matrix products read the buffer itself, so that they may still be
  /// under way in the next iteration.
  bool isReadInPlace = false;
  int numBuffers = 0;
  Value buffers;
  /// What stands for the copy where threads wait for their own.
  Value token;

  bool isStored() const { return strategy->getArrival() == Arrival::Store; }
  bool isWaitedByTokens() const {
    return strategy->getArrival() == Arrival::Token;
  }
  int getDistance() const { return usePlace.stage - defPlace.stage; }
  Value getResult() const { return load->getResult(0); }
  RankedTensorType getType() const {
    return cast<RankedTensorType>(getResult().getType());
  }
  Location getLoc() const { return load->getLoc(); }
};

/// The ring positions that all loads of one distance share.
struct RingIndices {
  Value insert, extract;
  /// `extract` of the iteration before.
  Value lastExtract;
  /// Where copies arrive at barriers: one for each buffer, and the parity of
  /// the round of the ring in which `extract` is.
  Value barriers, phase;
};
using RingKey = std::tuple<int, int, int, int>;

/// Copies that start together, are needed in the same iteration, and are waited
/// for in one way: by tokens of this strategy, or (null) at barriers.
using GroupKey = std::tuple<const CopyStrategy *, int, int>;

GroupKey getGroupKey(const AsyncLoad &load) {
  return {load.isWaitedByTokens() ? load.strategy : nullptr,
          load.defPlace.stage, load.usePlace.stage};
}

std::optional<AsyncLoad> analyze(Operation *load, scf::ForOp loop,
                                 const LoopSchedule &schedule,
                                 const ModuleAxisInfoAnalysis &axisInfo) {
  AsyncLoad result;
  result.strategy = CopyStrategy::find(load, loop);
  if (!result.strategy)
    return std::nullopt;
  result.load = load;
  result.defPlace = schedule.get(load);
  for (Operation *user : load->getUsers()) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    // A value that goes on to the next iteration stays in registers.
    if (!inBody || inBody == loop.getBody()->getTerminator())
      return std::nullopt;
    LoopSchedule::Place place = schedule.get(inBody);
    bool earlier = !result.firstUser || place.stage < result.usePlace.stage ||
                   (place.stage == result.usePlace.stage &&
                    inBody->isBeforeInBlock(result.firstUser));
    if (earlier) {
      result.firstUser = inBody;
      result.usePlace = place;
    }
  }
  if (!result.firstUser || result.getDistance() < 1)
    return std::nullopt;
  result.encoding = result.strategy->chooseEncoding(load);
  result.isReadInPlace = llvm::any_of(load->getUsers(), [&](Operation *user) {
    LocalAllocOp alloc = getProductBuffer(user);
    return alloc && isReadByProducts(alloc) &&
           alloc.getType().getEncoding() == result.encoding;
  });
  result.numBuffers =
      result.isStored()
          ? 1
          : result.getDistance() +
                (result.isReadInPlace || result.strategy->hasSpareBuffer());
  if (auto pointers = dyn_cast<LoadOp>(load))
    result.contiguity = getCopyContiguity(axisInfo, pointers);
  return result;
}

/// What may have a buffer more without being asked for.
constexpr int64_t kLeastBytes = 1024;

/// The bytes that one buffer has in each block.
int64_t countBytes(const AsyncLoad &load) {
  return llvm::product_of(
             getShapePerCTA(load.encoding, load.getType().getShape())) *
         std::max(getElementBitWidth(load.getType()), 8u) / 8;
}

/// Makes the operations that replace the loads, each with its place.
class AsyncLoadBuilder {
public:
  AsyncLoadBuilder(scf::ForOp &loop, LoopSchedule &schedule)
      : loop(loop), schedule(schedule), builder(loop),
        ringBarriers(getTargetModel(loop).getRingBarriers()) {
    for (Operation &op : loop.getBody()->without_terminator())
      lastCluster = std::max(lastCluster, schedule.get(&op).cluster);
  }

  AsyncRings build(MutableArrayRef<AsyncLoad> loads) {
    AsyncRings result;
    for (AsyncLoad &load : loads) {
      result.buffers.push_back(load.buffers = allocate(load));
      if (!load.isStored() && load.numBuffers > load.getDistance())
        result.withSpareBuffer.push_back(load.buffers);
    }
    addRings(loads);
    for (auto &[key, ring] : rings)
      if (ring.barriers)
        result.barriers.push_back(ring.barriers);
    // Copies of other blocks of a cluster arrive at them, too.
    builder.setInsertionPoint(loop);
    if (!result.barriers.empty())
      result.clusterBarrier =
          ringBarriers->startSharingInLoop(builder, loop.getLoc());
    // Copies that start together and are needed in the same iteration have one
    // wait, before the first use of any. It comes with a barrier, which costs
    // more than the short time between their arrivals.
    llvm::MapVector<GroupKey, SmallVector<AsyncLoad *>> groups;
    for (AsyncLoad &load : loads)
      if (!load.isStored())
        groups[getGroupKey(load)].push_back(&load);
    // That barrier comes where the first copies of the stage are needed, be
    // they waited for otherwise: those for later iterations may follow it.
    llvm::MapVector<int, Operation *> firstUsers;
    for (AsyncLoad &load : loads) {
      Operation *&first = firstUsers[load.usePlace.stage];
      if (!first || load.firstUser->isBeforeInBlock(first))
        first = load.firstUser;
    }
    SmallVector<Value> tokens;
    for (auto &[key, group] : groups) {
      startCopies(group);
      tokens.push_back(
          waitForCopies(group, firstUsers[group.front()->usePlace.stage]));
    }
    // Reads come last: they replace users.
    for (auto [token, keyAndGroup] : llvm::zip(tokens, groups))
      for (AsyncLoad *load : keyAndGroup.second)
        read(*load, token);
    for (AsyncLoad &load : loads)
      if (load.isStored())
        copyThroughRegisters(load);
    for (const AsyncLoad &load : loads)
      if (load.isWaitedByTokens() &&
          !llvm::is_contained(result.waitedByTokens, load.strategy))
        result.waitedByTokens.push_back(load.strategy);
    return result;
  }

private:
  Value allocate(AsyncLoad &load) {
    builder.setInsertionPoint(loop);
    if (load.isStored())
      return allocateBuffer(builder, load.getLoc(), load.getType(),
                            load.encoding);
    return allocateBuffers(builder, load.getLoc(), load.getType(),
                           load.encoding, load.numBuffers);
  }

  /// A barrier for each buffer of a ring.
  Value makeBarriers(int size) {
    Location loc = loop.getLoc();
    Value barriers = ringBarriers->allocate(builder, loc, size);
    ringBarriers->initialize(builder, loc, barriers, /*arrivals=*/1);
    return barriers;
  }

  /// Adds iteration arguments for each pair of places that occurs. They are the
  /// positions in the ring that were filled and read last, and where there are
  /// barriers the parity of the round.
  void addRings(ArrayRef<AsyncLoad> loads) {
    SmallVector<const AsyncLoad *> ringLoads;
    for (const AsyncLoad &load : loads)
      if (!load.isStored() && rings.try_emplace(getRingKey(load)).second)
        ringLoads.push_back(&load);
    if (ringLoads.empty())
      return;

    builder.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    Value minusOne = arith::ConstantIntOp::create(builder, loc, -1, 32);
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
    SmallVector<Value> inits;
    for (const AsyncLoad *load : ringLoads) {
      inits.append({minusOne, minusOne});
      if (!load->strategy->usesBarriers())
        continue;
      inits.push_back(zero);
      rings[getRingKey(*load)].barriers = makeBarriers(load->numBuffers);
    }
    IRRewriter rewriter(builder);
    unsigned arg = loop.getNumRegionIterArgs();
    auto noYields = [](OpBuilder &b, Location l, ArrayRef<BlockArgument> args) {
      // Replaced below, once the operations have their places.
      return SmallVector<Value>(args.begin(), args.end());
    };
    auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, noYields));
    loop = newLoop;

    Operation *yield = loop.getBody()->getTerminator();
    for (const AsyncLoad *load : ringLoads) {
      RingIndices &ring = rings[getRingKey(*load)];
      Value oldInsert = loop.getRegionIterArg(arg);
      ring.insert = advance(oldInsert, load->numBuffers, load->defPlace);
      yield->setOperand(arg++, ring.insert);
      Value oldExtract = loop.getRegionIterArg(arg);
      Value oldPhase;
      if (ring.barriers)
        oldPhase = loop.getRegionIterArg(arg + 1);
      ring.lastExtract = oldExtract;
      ring.extract = advance(oldExtract, load->numBuffers, load->usePlace,
                             oldPhase, &ring.phase);
      yield->setOperand(arg++, ring.extract);
      if (ring.barriers)
        yield->setOperand(arg++, ring.phase);
    }
  }

  /// The stages between which a value is kept, and how many of it there are.
  static RingKey getRingKey(const AsyncLoad &load) {
    return {load.strategy->usesBarriers(), load.defPlace.stage,
            load.usePlace.stage, load.numBuffers};
  }

  /// The position after `index`, at the top of the body. Where it starts a new
  /// round, `newPhase` becomes the other parity.
  Value advance(Value index, int size, LoopSchedule::Place place,
                Value oldPhase = {}, Value *newPhase = nullptr) {
    builder.setInsertionPointToStart(loop.getBody());
    Location loc = loop.getLoc();
    auto constant = [&](int value) -> Value {
      OpBuilder outside(loop);
      return arith::ConstantIntOp::create(outside, loc, value, 32);
    };
    Value one = constant(1), end = constant(size), zero = constant(0);
    Value next = put(arith::AddIOp::create(builder, loc, index, one), place);
    Value wraps = put(arith::CmpIOp::create(
                          builder, loc, arith::CmpIPredicate::sge, next, end),
                      place);
    if (oldPhase) {
      Value other =
          put(arith::XOrIOp::create(builder, loc, oldPhase, one), place);
      *newPhase = put(
          arith::SelectOp::create(builder, loc, wraps, other, oldPhase), place);
    }
    return put(arith::SelectOp::create(builder, loc, wraps, zero, next), place);
  }

  Value getSlot(Location loc, Value buffers, Value index,
                LoopSchedule::Place place) {
    Value slot = getBuffer(builder, loc, buffers, index);
    return put(slot.getDefiningOp(), place);
  }

  /// Copies to one ring of barriers are announced together.
  void startCopies(ArrayRef<AsyncLoad *> group) {
    llvm::MapVector<RingKey, SmallVector<AsyncLoad *>> ofRing;
    for (AsyncLoad *load : group)
      ofRing[getRingKey(*load)].push_back(load);
    for (auto &[key, loads] : ofRing) {
      Value barrier;
      if (loads.front()->strategy->usesBarriers())
        barrier = announce(loads);
      for (AsyncLoad *load : loads)
        startCopy(*load, barrier);
    }
  }

  /// Tells the barrier of a slot how many bytes `loads` will bring.
  Value announce(ArrayRef<AsyncLoad *> loads) {
    AsyncLoad *first = loads.front(); // in the order of the body
    int64_t bytes = 0;
    for (AsyncLoad *load : loads)
      bytes += countBytes(*load);
    builder.setInsertionPoint(first->load);
    RingIndices ring = rings[getRingKey(*first)];
    Location loc = first->getLoc();
    Value barrier = getSlot(loc, ring.barriers, ring.insert, first->defPlace);
    Value always =
        put(arith::ConstantIntOp::create(builder, loc, 1, 1), first->defPlace);
    schedule.set(ringBarriers->announce(builder, loc, barrier, bytes, always),
                 first->defPlace);
    return barrier;
  }

  void startCopy(AsyncLoad &load, Value barrier) {
    builder.setInsertionPoint(load.load);
    Value slot = getSlot(load.getLoc(), load.buffers,
                         rings[getRingKey(load)].insert, load.defPlace);
    SmallVector<Operation *> ops = load.strategy->start(
        builder, load.load, slot, barrier, load.contiguity);
    for (Operation *op : ops)
      schedule.set(op, load.defPlace);
    if (load.isWaitedByTokens()) {
      Operation *committed = load.strategy->commit(builder, ops.back());
      load.token = put(committed, load.defPlace);
    }
  }

  /// One wait for all copies of `group`; returns its token, if threads wait for
  /// their own copies, which they do before `firstUser`.
  Value waitForCopies(ArrayRef<AsyncLoad *> group, Operation *firstUser) {
    AsyncLoad *first =
        *llvm::min_element(group, [](AsyncLoad *l, AsyncLoad *r) {
          return l->firstUser->isBeforeInBlock(r->firstUser);
        });
    if (first->strategy->usesBarriers()) {
      builder.setInsertionPoint(first->firstUser);
      llvm::MapVector<RingKey, SmallVector<Value>> waits;
      for (AsyncLoad *load : group)
        waits[getRingKey(*load)].push_back(load->buffers);
      for (auto &[key, buffers] : waits)
        waitAtBarrier(*first, rings[key], buffers);
      return {};
    }
    SmallVector<Value> tokens;
    for (AsyncLoad *load : group)
      tokens.push_back(load->token);
    builder.setInsertionPoint(firstUser);
    LoopSchedule::Place place = first->usePlace;
    // In front of the copies.
    if (first->strategy->hasSpareBuffer())
      for (AsyncLoad *load : group)
        place.cluster = std::min(place.cluster, load->defPlace.cluster - 1);
    return put(first->strategy->wait(builder, first->getLoc(), tokens), place);
  }

  /// Has threads store what they load to the one buffer. They do so at the end
  /// of the iteration before the one that reads it, which has read its own
  /// value by then.
  void copyThroughRegisters(AsyncLoad &load) {
    builder.setInsertionPoint(load.load);
    SmallVector<Operation *> ops =
        load.strategy->start(builder, load.load, load.buffers,
                             /*barrier=*/Value(), load.contiguity);
    Operation *store = ops.pop_back_val();
    for (Operation *op : ops)
      schedule.set(op, load.defPlace);
    // Nothing reads what is stored for iterations that do not exist.
    PlannedOp(store).setUnguarded();
    schedule.set(store, {load.usePlace.stage - 1, lastCluster + 1});
    for (OpOperand &use : llvm::make_early_inc_range(load.load->getUses())) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      auto convert = dyn_cast<ConvertLayoutOp>(user);
      builder.setInsertionPoint(user);
      auto read = LocalLoadOp::create(
          builder, load.getLoc(), convert ? convert.getType() : load.getType(),
          load.buffers);
      // Of a later stage it would find what is stored for a later iteration.
      LoopSchedule::Place place = schedule.get(user);
      schedule.set(read,
                   place.stage == load.usePlace.stage ? place : load.usePlace);
      if (!convert) {
        use.set(read);
        continue;
      }
      schedule.remove(convert);
      convert.replaceAllUsesWith(read.getResult());
      convert.erase();
    }
    schedule.remove(load.load);
    load.load->erase();
  }

  void waitAtBarrier(const AsyncLoad &first, const RingIndices &ring,
                     ArrayRef<Value> buffers) {
    Location loc = first.getLoc();
    Value barrier = getSlot(loc, ring.barriers, ring.extract, first.usePlace);
    schedule.set(ringBarriers->wait(builder, loc, barrier, ring.phase, buffers),
                 first.usePlace);
  }

  /// Where `load` is read. That is the slot of the iteration before if there is
  /// no other, and one stage is between them. Nobody may have written the next,
  /// and to leave out the read takes a branch.
  Value getReadPosition(const AsyncLoad &load, const RingIndices &ring) {
    if (!load.strategy->usesBarriers() ||
        load.usePlace.stage != schedule.getMaxStage() - 1)
      return ring.extract;
    Value exists =
        put(arith::ConstantIntOp::create(builder, load.getLoc(), 1, 1),
            load.usePlace);
    auto position = arith::SelectOp::create(builder, load.getLoc(), exists,
                                            ring.extract, ring.lastExtract);
    PlannedOp(position).setSelectOfExisting();
    return put(position, load.usePlace);
  }

  /// `wait` is the token of the wait, if there is one.
  void read(AsyncLoad &load, Value wait) {
    Operation *op = load.load;
    builder.setInsertionPoint(load.firstUser);
    Value slot =
        getSlot(load.getLoc(), load.buffers,
                getReadPosition(load, rings[getRingKey(load)]), load.usePlace);
    readBuffer(
        builder, op, *load.strategy, slot, wait,
        [&](Operation *created) { schedule.set(created, load.usePlace); },
        [&](Operation *erased) { schedule.remove(erased); });
    schedule.remove(op);
    op->erase();
  }

  /// Gives a new operation its place; returns its first result.
  Value put(Operation *op, LoopSchedule::Place place) {
    schedule.set(op, place);
    return op->getResult(0);
  }

  scf::ForOp &loop;
  LoopSchedule &schedule;
  OpBuilder builder;
  /// Null where the machine has none, and no strategy uses them.
  const RingBarriers *ringBarriers;
  std::map<RingKey, RingIndices> rings;
  /// Of the schedule as it was.
  int lastCluster = 0;
};

} // namespace

AsyncRings
mlir::triton::gpu::makeLoadsAsync(scf::ForOp &loop, LoopSchedule &schedule,
                                  const ModuleAxisInfoAnalysis &axisInfo) {
  SmallVector<AsyncLoad> loads;
  for (Operation &op : loop.getBody()->without_terminator())
    if (PlannedOp(op).getLatency())
      if (auto async = analyze(&op, loop, schedule, axisInfo))
        loads.push_back(*async);
  if (loads.empty())
    return {};
  // So little memory is worth it to start all copies together.
  bool anyInPlace = llvm::any_of(
      loads, [](const AsyncLoad &load) { return load.isReadInPlace; });
  for (AsyncLoad &load : loads)
    if (anyInPlace && countBytes(load) <= kLeastBytes)
      load.numBuffers = load.getDistance() + 1;
  // Copies that arrive at one barrier go round in one ring.
  for (AsyncLoad &load : loads)
    if (load.strategy->usesBarriers())
      for (const AsyncLoad &other : loads)
        if (getGroupKey(other) == getGroupKey(load))
          load.numBuffers = std::max(load.numBuffers, other.numBuffers);
  return AsyncLoadBuilder(loop, schedule).build(loads);
}
