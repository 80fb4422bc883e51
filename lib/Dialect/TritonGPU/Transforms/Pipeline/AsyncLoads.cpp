//===-- AsyncLoads.cpp - Loads that become asynchronous copies ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncLoads.h"
#include "LoopMemory.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/Matchers.h"
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
  LoadOp load;
  LoopSchedule::Place defPlace;
  /// Of the first operation that needs the value.
  LoopSchedule::Place usePlace;
  Operation *firstUser = nullptr;
  Attribute encoding;
  unsigned contiguity = 1;
  /// Whether matrix products read the buffer itself, so that they may still be
  /// under way in the next iteration.
  bool isReadInPlace = false;
  Value buffers;
  Value token;

  int getDistance() const { return usePlace.stage - defPlace.stage; }
  int getNumBuffers() const { return getDistance() + isReadInPlace; }
};

/// The pair of ring positions that all loads of one distance share.
struct RingIndices {
  Value insert, extract;
};
using RingKey = std::tuple<int, int, int>;

/// True if a copy leaves in shared memory what the load returns: it fills what
/// is masked off with zeros.
bool isComplete(LoadOp load) {
  Value other = load.getOther();
  return !other || matchPattern(other, m_Zero()) ||
         matchPattern(other, m_AnyZeroFloat());
}

/// The buffer for nothing but a matrix product that reads shared memory, where
/// the loaded value is put into one; null if it is not.
LocalAllocOp getProductBuffer(Operation *user) {
  auto alloc = dyn_cast<LocalAllocOp>(user);
  if (!alloc || alloc.getType().getMutableMemory() ||
      !isa<NVMMASharedEncodingAttr>(alloc.getType().getEncoding()))
    return {};
  return alloc;
}

Attribute chooseSharedEncoding(LoadOp load) {
  if (isComplete(load))
    for (Operation *user : load->getUsers())
      if (LocalAllocOp alloc = getProductBuffer(user))
        return alloc.getType().getEncoding();
  auto type = cast<RankedTensorType>(load.getType());
  for (Operation *user : load->getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    if (!convert)
      continue;
    auto operand = dyn_cast<DotOperandEncodingAttr>(
        cast<RankedTensorType>(convert.getType()).getEncoding());
    if (operand)
      return getDotOperandSharedEncoding(type, operand);
  }
  return SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1,
                                         getOrder(type),
                                         getCTALayout(type.getEncoding()));
}

std::optional<AsyncLoad> analyze(LoadOp load, scf::ForOp loop,
                                 const LoopSchedule &schedule,
                                 const ModuleAxisInfoAnalysis &axisInfo) {
  AsyncLoad result;
  // Indices are few and needed in registers: they cross stages there.
  if (!isa<RankedTensorType>(load.getType()) || isAddressLoad(loop, load))
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
  result.encoding = chooseSharedEncoding(load);
  result.isReadInPlace = isa<NVMMASharedEncodingAttr>(result.encoding);
  result.contiguity = axisInfo.getContiguity(load.getPtr());
  if (load.getMask())
    result.contiguity =
        std::min(result.contiguity, axisInfo.getMaskAlignment(load.getMask()));
  return result;
}

/// Views of a buffer that can be written can be written, too.
void makeViewsMutable(Value memory) {
  for (Operation *user : memory.getUsers()) {
    if (!isa<ViewLikeOpInterface>(user))
      continue;
    Value view = user->getResult(0);
    auto type = cast<MemDescType>(view.getType());
    view.setType(MemDescType::get(
        type.getShape(), type.getElementType(), type.getEncoding(),
        type.getMemorySpace(), /*mutableMemory=*/true, type.getAllocShape()));
    makeViewsMutable(view);
  }
}

/// Makes the operations that replace the loads, each with its place.
class AsyncLoadBuilder {
public:
  AsyncLoadBuilder(scf::ForOp &loop, LoopSchedule &schedule)
      : loop(loop), schedule(schedule), builder(loop) {}

  SmallVector<Value> build(MutableArrayRef<AsyncLoad> loads) {
    SmallVector<Value> buffers;
    for (AsyncLoad &load : loads)
      buffers.push_back(load.buffers = allocate(load));
    addRings(loads);
    for (AsyncLoad &load : loads)
      startCopy(load);
    // Copies that start together and are needed in the same iteration have one
    // wait, before the first use of any: it comes with a barrier, which costs
    // more than the short time between their arrivals.
    llvm::MapVector<std::pair<int, int>, SmallVector<AsyncLoad *>> groups;
    for (AsyncLoad &load : loads)
      groups[{load.defPlace.stage, load.usePlace.stage}].push_back(&load);
    for (auto &[key, group] : groups)
      finishCopies(group);
    return buffers;
  }

private:
  Value allocate(AsyncLoad &load) {
    auto type = cast<RankedTensorType>(load.load.getType());
    SmallVector<int64_t> shape{load.getNumBuffers()};
    llvm::append_range(shape, type.getShape());
    builder.setInsertionPoint(loop);
    auto memDesc = MemDescType::get(
        shape, type.getElementType(), load.encoding,
        SharedMemorySpaceAttr::get(type.getContext()), /*mutableMemory=*/true);
    return LocalAllocOp::create(builder, load.load.getLoc(), memDesc);
  }

  /// Adds for each pair of places that occurs two iteration arguments: the
  /// positions in the ring that were filled and read last.
  void addRings(ArrayRef<AsyncLoad> loads) {
    SmallVector<RingKey> keys;
    for (const AsyncLoad &load : loads)
      if (auto key = getRingKey(load); !llvm::is_contained(keys, key))
        keys.push_back(key);

    builder.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    Value minusOne = arith::ConstantIntOp::create(builder, loc, -1, 32);
    SmallVector<Value> inits(2 * keys.size(), minusOne);
    IRRewriter rewriter(builder);
    unsigned firstArg = loop.getNumRegionIterArgs();
    auto noYields = [](OpBuilder &b, Location l, ArrayRef<BlockArgument> args) {
      // Replaced below, once the operations have their places.
      return SmallVector<Value>(args.begin(), args.end());
    };
    auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, noYields));
    loop = newLoop;

    Operation *yield = loop.getBody()->getTerminator();
    for (auto [i, key] : llvm::enumerate(keys)) {
      const AsyncLoad &load = *llvm::find_if(
          loads, [&](const AsyncLoad &l) { return getRingKey(l) == key; });
      unsigned insertArg = firstArg + 2 * i, extractArg = insertArg + 1;
      RingIndices &ring = rings[key];
      ring.insert = advance(loop.getRegionIterArg(insertArg),
                            load.getNumBuffers(), load.defPlace);
      ring.extract = advance(loop.getRegionIterArg(extractArg),
                             load.getNumBuffers(), load.usePlace);
      yield->setOperand(insertArg, ring.insert);
      yield->setOperand(extractArg, ring.extract);
    }
  }

  /// The stages between which a value is kept, and how many of it there are.
  static RingKey getRingKey(const AsyncLoad &load) {
    return {load.defPlace.stage, load.usePlace.stage, load.getNumBuffers()};
  }

  /// The position after `index`, at the top of the body.
  Value advance(Value index, int size, LoopSchedule::Place place) {
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
    return put(arith::SelectOp::create(builder, loc, wraps, zero, next), place);
  }

  Value getSlot(AsyncLoad &load, Value index, LoopSchedule::Place place) {
    auto type = cast<MemDescType>(load.buffers.getType());
    auto slot = MemDescType::get(type.getShape().drop_front(),
                                 type.getElementType(), type.getEncoding(),
                                 type.getMemorySpace(), /*mutableMemory=*/true);
    return put(MemDescIndexOp::create(builder, load.load.getLoc(), slot,
                                      load.buffers, index),
               place);
  }

  void startCopy(AsyncLoad &load) {
    LoadOp op = load.load;
    builder.setInsertionPoint(op);
    RingIndices ring = rings[getRingKey(load)];
    Value slot = getSlot(load, ring.insert, load.defPlace);
    auto copy = AsyncCopyGlobalToLocalOp::create(
        builder, op.getLoc(), AsyncTokenType::get(op.getContext()), op.getPtr(),
        slot, op.getMask(), /*other=*/Value(), op.getCache(), op.getEvict(),
        op.getIsVolatile(), static_cast<int32_t>(load.contiguity));
    put(copy, load.defPlace);
    load.token =
        put(AsyncCommitGroupOp::create(builder, op.getLoc(), copy.getToken()),
            load.defPlace);
  }

  /// One wait for all copies of `group`, and the reads from shared memory.
  void finishCopies(ArrayRef<AsyncLoad *> group) {
    AsyncLoad *first =
        *llvm::min_element(group, [](AsyncLoad *l, AsyncLoad *r) {
          return l->firstUser->isBeforeInBlock(r->firstUser);
        });
    builder.setInsertionPoint(first->firstUser);
    SmallVector<Value> tokens;
    for (AsyncLoad *load : group)
      tokens.push_back(load->token);
    Value wait = put(AsyncWaitOp::create(builder, first->load.getLoc(), tokens,
                                         /*num=*/0),
                     first->usePlace);
    for (AsyncLoad *load : group)
      read(*load, wait);
  }

  void read(AsyncLoad &load, Value wait) {
    LoadOp op = load.load;
    builder.setInsertionPoint(load.firstUser);
    Value slot = getSlot(load, rings[getRingKey(load)].extract, load.usePlace);
    // Where a product reads shared memory, it reads what was copied.
    if (load.isReadInPlace)
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (LocalAllocOp alloc = getProductBuffer(user);
            alloc && alloc.getType().getEncoding() == load.encoding) {
          alloc.getResult().replaceAllUsesWith(slot);
          makeViewsMutable(slot);
          schedule.remove(alloc);
          if (load.firstUser == alloc)
            load.firstUser = slot.getDefiningOp();
          alloc.erase();
        }
    // The builder may have stood at an allocation that is gone.
    if (load.firstUser == slot.getDefiningOp())
      builder.setInsertionPointAfter(load.firstUser);
    bool complete = isComplete(op);
    // Where the value only changes its layout, it is read in the new one.
    SmallVector<ConvertLayoutOp> conversions;
    for (Operation *user : op->getUsers())
      if (auto convert = dyn_cast<ConvertLayoutOp>(user); convert && complete)
        conversions.push_back(convert);
    for (ConvertLayoutOp convert : conversions) {
      Value value = put(LocalLoadOp::create(builder, op.getLoc(),
                                            convert.getType(), slot, wait),
                        load.usePlace);
      schedule.remove(convert);
      convert.replaceAllUsesWith(value);
      if (load.firstUser == convert)
        load.firstUser = value.getDefiningOp();
      convert.erase();
      builder.setInsertionPointAfter(value.getDefiningOp());
    }
    if (!op->use_empty()) {
      Value value = put(
          LocalLoadOp::create(builder, op.getLoc(), op.getType(), slot, wait),
          load.usePlace);
      if (!complete)
        value = put(arith::SelectOp::create(builder, op.getLoc(), op.getMask(),
                                            value, op.getOther()),
                    load.usePlace);
      op->getResult(0).replaceAllUsesWith(value);
    }
    schedule.remove(op);
    op.erase();
  }

  /// Gives a new operation its place; returns its first result.
  Value put(Operation *op, LoopSchedule::Place place) {
    schedule.set(op, place);
    return op->getResult(0);
  }

  scf::ForOp &loop;
  LoopSchedule &schedule;
  OpBuilder builder;
  std::map<RingKey, RingIndices> rings;
};

} // namespace

SmallVector<Value>
mlir::triton::gpu::makeLoadsAsync(scf::ForOp &loop, LoopSchedule &schedule,
                                  const ModuleAxisInfoAnalysis &axisInfo) {
  SmallVector<AsyncLoad> loads;
  for (Operation &op : loop.getBody()->without_terminator())
    if (auto load = dyn_cast<LoadOp>(op); load && load->hasAttr(kLatencyAttr))
      if (auto async = analyze(load, loop, schedule, axisInfo))
        loads.push_back(*async);
  if (loads.empty())
    return {};
  return AsyncLoadBuilder(loop, schedule).build(loads);
}
