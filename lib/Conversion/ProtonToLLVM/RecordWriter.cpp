//===-- RecordWriter.cpp - What a warp does to record ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RecordWriter.h"

#include "tile/Conversion/TritonGPUToLLVM/BlockInGrid.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::proton;

RecordWriter::RecordWriter(LLVM::LLVMFuncOp kernel, const RecordPlan &plan,
                           const RecordTarget &target, RewriterBase &rewriter)
    : plan(plan), target(target), rewriter(rewriter) {
  Value argument = kernel.getArgument(kernel.getNumArguments() - 1);
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  LLVMBuilder b(kernel.getLoc(), rewriter);
  next = b.create<LLVM::AllocaOp>(b.ptrTy(target.getLocalAddressSpace()),
                                  b.intTy(32), b.i32(1));
  b.store(b.i32(0), next, 4);
  findPlace(b, argument);
  begin(b);
}

void RecordWriter::findPlace(const LLVMBuilder &b, Value argument) {
  const TargetInfo &info = target.getInfo();
  Value thread = info.getThreadId(b);
  lane = b.and_(thread, b.i32(plan.lanes - 1));
  warp = b.lshr(thread, b.i32(llvm::Log2_32(plan.lanes)));
  isFirstLane = b.eq(lane, b.i32(0));
  // The warps that record are counted: unit i is that of the i-th.
  Value bit = b.shl(b.i32(1), warp);
  Value warps = b.i32(int32_t(plan.warps));
  isRecording = b.ne(b.and_(warps, bit), b.i32(0));
  Value before = b.and_(warps, b.sub(bit, b.i32(1)));
  Value unit = b.create<LLVM::CtPopOp>(b.intTy(32), before);

  // One piece for every block of the grid, also within a cluster.
  Value block = getBlockInGrid(b, info);
  Value start = b.mul(b.zext(b.intTy(64), block), b.i64(plan.getBlockBytes()));
  memory = b.gep(argument, b.intTy(8), start);
  memory = b.gep(memory, b.intTy(8), b.mul(unit, b.i32(plan.getUnitBytes())));
  if (!plan.ring)
    return;
  ring = b.create<LLVM::AddressOfOp>(b.ptrTy(info.getSharedAddressSpace()),
                                     "global_smem");
  ring = b.gep(ring, b.intTy(8), plan.sharedOffset);
  ring = b.gep(ring, b.intTy(8),
               b.mul(unit, b.i32(plan.ring * plan.getRecordBytes())));
}

void RecordWriter::begin(const LLVMBuilder &b) const {
  Value cost = plan.timeShift ? measureCost(b) : b.i32(0);
  Value isWriter = b.and_(isRecording, isFirstLane);
  storeGlobal(b, getInHeader(b, 0),
              {warp, cost, target.readProcessor(b), b.i32(0)}, isWriter);
  SmallVector<Value> clocks;
  appendHalves(b, target.readCycles(b), clocks);
  appendHalves(b, target.readTime(b), clocks);
  storeGlobal(b, getInHeader(b, 16), clocks, isWriter);
}

Value RecordWriter::measureCost(const LLVMBuilder &b) const {
  // These are overwritten, or not counted. They begin at a number that is 0 for
  // the first months and that the compiler does not know: so they cost what
  // records cost elsewhere.
  constexpr int32_t numRecords = 4;
  Value begin = target.readCycles(b);
  b.store(b.trunc(b.intTy(32), b.lshr(begin, b.i64(54))), next, 4);
  Value before = target.readCycles(b);
  for (int32_t i = 0; i != numRecords; ++i)
    write(b, 0, target.readCycles(b));
  Value all = b.sub(target.readCycles(b), before);
  b.store(b.i32(0), next, 4);
  return b.lshr(b.trunc(b.intTy(32), all), b.i32(llvm::Log2_32(numRecords)));
}

void RecordWriter::write(const LLVMBuilder &b, unsigned record,
                         Value cycles) const {
  Value number = getNext(b);
  if (plan.ring && plan.keepsFirst)
    emptyRing(b, number);
  put(b, number, getWords(b, record, cycles));
  b.store(b.add(number, b.i32(1)), next, 4);
}

void RecordWriter::finish(const LLVMBuilder &b) const {
  Value isWriter = b.and_(isRecording, isFirstLane);
  SmallVector<Value> clocks;
  appendHalves(b, target.readCycles(b), clocks);
  appendHalves(b, target.readTime(b), clocks);
  Value number = getNext(b);
  if (plan.ring && plan.keepsFirst) {
    // What was not copied yet: 1 to `lanes` records.
    Value first = b.and_(b.sub(number, b.i32(1)), b.i32(-int64_t(plan.lanes)));
    Value position = b.add(first, lane);
    Value pred =
        b.and_(b.ult(position, number), b.ult(position, b.i32(plan.capacity)));
    copy(b, lane, position, b.and_(isRecording, pred));
  } else if (plan.ring) {
    copyRing(b, number);
  }
  storeGlobal(b, getInHeader(b, 32), clocks, isWriter);
  SmallVector<Value> written;
  appendHalves(b, target.readTime(b), written);
  written.append({number, b.i32(0)});
  storeGlobal(b, getInHeader(b, 48), written, isWriter);
}

SmallVector<Value> RecordWriter::getWords(const LLVMBuilder &b, unsigned record,
                                          Value cycles) const {
  SmallVector<Value> words = {b.i32(record)};
  if (plan.clock32) {
    words.push_back(b.trunc(b.intTy(32), cycles));
    return words;
  }
  words.push_back(b.i32(0));
  appendHalves(b, cycles, words);
  return words;
}

void RecordWriter::appendHalves(const LLVMBuilder &b, Value value,
                                SmallVectorImpl<Value> &words) {
  words.push_back(b.trunc(b.intTy(32), value));
  words.push_back(b.trunc(b.intTy(32), b.lshr(value, b.i64(32))));
}

Value RecordWriter::getInRing(const LLVMBuilder &b, Value position) const {
  return b.gep(ring, b.intTy(8), b.mul(position, b.i32(plan.getRecordBytes())));
}

Value RecordWriter::getInMemory(const LLVMBuilder &b, Value position) const {
  Value offset = b.mul(position, b.i32(plan.getRecordBytes()));
  return b.gep(getInHeader(b, RecordPlan::kHeaderBytes), b.intTy(8), offset);
}

Value RecordWriter::getInHeader(const LLVMBuilder &b, int64_t byte) const {
  return b.gep(memory, b.intTy(8), byte);
}

Value RecordWriter::getNext(const LLVMBuilder &b) const {
  return b.load(b.intTy(32), next, 4);
}

void RecordWriter::put(const LLVMBuilder &b, Value number,
                       ArrayRef<Value> words) const {
  Value owner = b.and_(number, b.i32(plan.lanes - 1));
  Value pred = b.and_(isRecording, b.eq(owner, lane));
  if (plan.ring) {
    Value position = b.and_(number, b.i32(plan.ring - 1));
    target.getInfo().storeShared(b, getInRing(b, position), words, pred);
    return;
  }
  Value position = number;
  if (plan.keepsFirst)
    pred = b.and_(pred, b.ult(number, b.i32(plan.capacity)));
  else
    position = b.and_(number, b.i32(plan.capacity - 1));
  storeGlobal(b, getInMemory(b, position), words, pred);
}

void RecordWriter::storeGlobal(const LLVMBuilder &b, Value ptr,
                               ArrayRef<Value> words, Value pred) const {
  target.getInfo().storeGlobal(b, ptr, words, pred, {});
}

void RecordWriter::copy(const LLVMBuilder &b, Value inRing, Value position,
                        Value pred) const {
  SmallVector<Value> words = target.getInfo().loadShared(
      b, getInRing(b, inRing), b.intTy(32), plan.getRecordBytes() / 4, pred);
  storeGlobal(b, getInMemory(b, position), words, pred);
}

void RecordWriter::emptyRing(const LLVMBuilder &b, Value number) const {
  Value isFull = b.and_(b.ne(number, b.i32(0)),
                        b.eq(b.and_(number, b.i32(plan.lanes - 1)), b.i32(0)));
  Value position = b.add(b.sub(number, b.i32(plan.lanes)), lane);
  Value hasRoom = b.ult(position, b.i32(plan.capacity));
  copy(b, lane, position, b.and_(isRecording, b.and_(isFull, hasRoom)));
}

void RecordWriter::copyRing(const LLVMBuilder &b, Value number) const {
  Value ringSize = b.i32(plan.ring);
  Value count = b.select(b.ult(number, ringSize), number, ringSize);
  count = b.select(isRecording, count, b.i32(0));

  Block *before = rewriter.getInsertionBlock();
  Block *after = rewriter.splitBlock(before, rewriter.getInsertionPoint());
  Block *head = rewriter.createBlock(after, b.intTy(32), b.getLoc());
  Block *body = rewriter.createBlock(after);
  rewriter.setInsertionPointToEnd(before);
  b.create<LLVM::BrOp>(ValueRange(lane), head);
  rewriter.setInsertionPointToEnd(head);
  Value position = head->getArgument(0);
  b.create<LLVM::CondBrOp>(b.ult(position, count), body, ValueRange(), after,
                           ValueRange());
  rewriter.setInsertionPointToEnd(body);
  SmallVector<Value> words = target.getInfo().loadShared(
      b, getInRing(b, position), b.intTy(32), plan.getRecordBytes() / 4, {});
  storeGlobal(b, getInMemory(b, position), words, {});
  b.create<LLVM::BrOp>(ValueRange(b.add(position, b.i32(plan.lanes))), head);
  rewriter.setInsertionPointToStart(after);
}
