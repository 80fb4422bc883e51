//===-- LayoutIndices.cpp - Layouts on run-time indices -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

Value ThreadIndex::getLane(const LLVMBuilder &b) const {
  return b.and_(thread, b.i32(threadsPerWarp - 1));
}

Value ThreadIndex::getWarp(const LLVMBuilder &b) const {
  return b.lshr(thread, b.i32(llvm::Log2_32(threadsPerWarp)));
}

ThreadIndex triton::getThreadIndex(const LLVMBuilder &b,
                                   const TargetInfo &target, Operation *op) {
  ThreadIndex index;
  index.thread = target.getThreadId(b);
  index.threadsPerWarp = gpu::lookupThreadsPerWarp(op);
  if (unsigned firstWarp = getFirstWarp(op))
    index.thread = b.sub(index.thread, b.i32(firstWarp * index.threadsPerWarp));
  if (gpu::lookupNumCTAs(op) > 1)
    index.block = target.getBlockInCluster(b);
  return index;
}

Value triton::evaluateLinear(const LLVMBuilder &b, Value x,
                             ArrayRef<int32_t> bases) {
  // Bits that move by the same distance move together: one and, one shift.
  llvm::MapVector<int, uint32_t> maskOfShift;
  for (auto [in, basis] : llvm::enumerate(bases))
    for (int out = 0; out < 31; ++out)
      if (basis & (1 << out))
        maskOfShift[out - static_cast<int>(in)] |= 1u << in;
  uint32_t allBits = (uint64_t(1) << bases.size()) - 1;
  Value result;
  for (auto [shift, mask] : maskOfShift) {
    Value term = mask == allBits ? x : b.and_(x, b.i32(mask));
    if (shift > 0)
      term = b.shl(term, b.i32(shift));
    else if (shift < 0)
      term = b.lshr(term, b.i32(-shift));
    result = result ? b.xor_(result, term) : term;
  }
  return result;
}

ThreadPart triton::evaluateThreadPart(const LLVMBuilder &b,
                                      const LinearLayout &layout,
                                      StringRef outDim,
                                      const ThreadIndex &index) {
  ThreadPart part;
  auto basesOf = [&](StringRef inDim, SmallVectorImpl<int32_t> &bases) {
    if (!layout.hasInDim(inDim))
      return;
    for (unsigned i = 0, e = layout.getInDimSizeLog2(inDim); i < e; ++i) {
      bases.push_back(layout.getBasis(inDim, i, outDim));
      part.bits |= bases.back();
    }
  };
  // The thread's flat index is lane bits, then warp bits: one variable.
  SmallVector<int32_t> threadBases, blockBases;
  basesOf(kLane, threadBases);
  basesOf(kWarp, threadBases);
  if (part.bits)
    part.value = evaluateLinear(b, index.thread, threadBases);
  if (index.block) {
    basesOf(kBlock, blockBases);
    Value value = evaluateLinear(b, index.block, blockBases);
    if (value)
      part.value = part.value ? b.xor_(part.value, value) : value;
  }
  return part;
}

Value ThreadPart::withConstant(const LLVMBuilder &b, int32_t constant) const {
  if (!value)
    return b.i32(constant);
  if (constant == 0)
    return value;
  if (constant & bits)
    return b.xor_(value, b.i32(constant));
  return b.create<LLVM::AddOp>(value, b.i32(constant),
                               LLVM::IntegerOverflowFlags::nsw |
                                   LLVM::IntegerOverflowFlags::nuw);
}

SmallVector<SmallVector<Value>>
triton::emitIndices(const LLVMBuilder &b, const TargetInfo &target,
                    Operation *op, const LinearLayout &layout) {
  ThreadIndex index = getThreadIndex(b, target, op);
  SmallVector<StringRef> outDims = standardOutDimNames(layout.getNumOutDims());
  SmallVector<ThreadPart> parts;
  for (StringRef dim : outDims)
    parts.push_back(evaluateThreadPart(b, layout, dim, index));

  SmallVector<SmallVector<Value>> indices;
  // Many registers share a coordinate: make each sum once.
  SmallVector<llvm::DenseMap<int32_t, Value>> known(outDims.size());
  LinearLayout registers = layout.sublayout({kRegister}, outDims);
  for (int32_t r = 0, e = layout.getInDimSize(kRegister); r < e; ++r) {
    SmallVector<Value> coords;
    LinearLayout::NamedSizes image = registers.apply({{kRegister, r}});
    for (auto [d, dim] : llvm::enumerate(outDims)) {
      int32_t constant = image[registers.getOutDimIndex(dim)].second;
      Value &value = known[d][constant];
      if (!value)
        value = parts[d].withConstant(b, constant);
      coords.push_back(value);
    }
    indices.push_back(std::move(coords));
  }
  return indices;
}

Value triton::emitUniqueThreadPredicate(const LLVMBuilder &b,
                                        const LinearLayout &layout,
                                        const ThreadIndex &index) {
  // Free bits of the thread index must be zero.
  uint32_t freeBits = 0, freeBlockBits = 0;
  unsigned laneBits =
      layout.hasInDim(kLane) ? layout.getInDimSizeLog2(kLane) : 0;
  for (auto [dim, mask] : layout.getFreeVariableMasks()) {
    if (dim == kLane)
      freeBits |= mask;
    else if (dim == kWarp)
      freeBits |= static_cast<uint32_t>(mask) << laneBits;
    else if (dim == kBlock)
      freeBlockBits |= mask;
  }
  Value pred;
  if (freeBits)
    pred = b.eq(b.and_(index.thread, b.i32(freeBits)), b.i32(0));
  if (freeBlockBits && index.block)
    pred = b.andPred(pred,
                     b.eq(b.and_(index.block, b.i32(freeBlockBits)), b.i32(0)));
  return pred;
}

RegisterTable::RegisterTable(const LinearLayout &layout)
    : registers(layout.sublayout({kRegister}, layout.getOutDimNames())) {
  for (int32_t r = 0, e = layout.getInDimSize(kRegister); r < e; ++r)
    at.try_emplace(registers.applyFlat(r), r);
}

int32_t RegisterTable::lookup(ArrayRef<int32_t> coords) const {
  LinearLayout::NamedSizes index;
  for (auto [d, coord] : llvm::enumerate(coords)) {
    if (coord >= registers.getOutDimSize(kDim(d)))
      return -1;
    index.push_back({kDim(d), coord});
  }
  auto it = at.find(registers.flattenOut(index));
  return it == at.end() ? -1 : it->second;
}

SmallVector<int32_t> RegisterTable::getContributions(unsigned dim) const {
  llvm::SmallSet<int32_t, 16> found;
  SmallVector<int32_t> contributions;
  for (int32_t r = 0, e = registers.getInDimSize(kRegister); r < e; ++r)
    for (auto [name, value] : registers.apply({{kRegister, r}}))
      if (name == kDim(dim) && found.insert(value).second)
        contributions.push_back(value);
  llvm::sort(contributions);
  return contributions;
}
