//===-- Utility.cpp - Values and indices ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Utility.h"

#include "mlir/IR/IRMapping.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

TargetInfo::~TargetInfo() = default;

void DeclineReasons::attachTo(Diagnostic &error) const {
  auto it = reasons.find(error.getLocation());
  if (error.getSeverity() != DiagnosticSeverity::Error || it == reasons.end())
    return;
  for (const std::string &reason : it->second)
    error.attachNote(error.getLocation()) << reason;
}

//===----------------------------------------------------------------------===//
// Tensors as values
//===----------------------------------------------------------------------===//

SmallVector<Value> triton::unpackElements(const LLVMBuilder &b, Value converted,
                                          Type original) {
  if (!isa<RankedTensorType>(original))
    return {converted};
  if (auto cast = converted.getDefiningOp<UnrealizedConversionCastOp>())
    if (cast.getInputs().size() != 1 ||
        !isa<RankedTensorType>(cast.getInputs().front().getType()))
      return llvm::to_vector(cast.getInputs());
  auto type = cast<LLVM::LLVMStructType>(converted.getType());
  SmallVector<Value> elements;
  for (unsigned i = 0, e = type.getBody().size(); i < e; ++i)
    elements.push_back(b.extractVal(converted, i));
  return elements;
}

Value triton::packElements(const LLVMBuilder &b, const TypeConverter &converter,
                           ArrayRef<Value> elements, Type original) {
  if (!isa<RankedTensorType>(original)) {
    assert(elements.size() == 1 && "a scalar has one element");
    return elements.front();
  }
  Type type = converter.convertType(original);
  assert(cast<LLVM::LLVMStructType>(type).getBody().size() == elements.size());
  return b.create<UnrealizedConversionCastOp>(type, elements).getResult(0);
}

namespace {
/// Struct types that stand for tensors: all bodies alike, no names. (Memdescs
/// are structs too; splitting them is just as good.)
bool isSplittable(Type type) {
  auto structType = dyn_cast<LLVM::LLVMStructType>(type);
  return structType && !structType.isIdentified();
}

/// The elements of a struct value, looking through pack casts.
SmallVector<Value> explode(OpBuilder &builder, Location loc, Value value) {
  LLVMBuilder b(loc, builder);
  if (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    return llvm::to_vector(cast.getInputs());
  auto type = cast<LLVM::LLVMStructType>(value.getType());
  SmallVector<Value> elements;
  for (unsigned i = 0, e = type.getBody().size(); i < e; ++i)
    elements.push_back(b.extractVal(value, i));
  return elements;
}

void splitBlockArguments(Block &block) {
  if (block.isEntryBlock() ||
      llvm::none_of(block.getArgumentTypes(), isSplittable))
    return;
  // Every predecessor must be a branch whose operands can be rewritten.
  for (Block *pred : block.getPredecessors())
    if (!isa<LLVM::BrOp, LLVM::CondBrOp>(pred->getTerminator()))
      return;

  // New arguments, and for each old one the place of its parts.
  unsigned numOld = block.getNumArguments();
  SmallVector<Type> oldTypes(block.getArgumentTypes());
  OpBuilder builder(block.getParentOp()->getContext());
  builder.setInsertionPointToStart(&block);
  for (unsigned i = 0; i < numOld; ++i) {
    BlockArgument old = block.getArgument(i);
    Location loc = old.getLoc();
    if (!isSplittable(oldTypes[i])) {
      old.replaceAllUsesWith(block.addArgument(oldTypes[i], loc));
      continue;
    }
    SmallVector<Value> parts;
    for (Type type : cast<LLVM::LLVMStructType>(oldTypes[i]).getBody())
      parts.push_back(block.addArgument(type, loc));
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
      auto extract = dyn_cast<LLVM::ExtractValueOp>(use.getOwner());
      if (!extract || extract.getPosition().size() != 1)
        continue;
      extract.replaceAllUsesWith(parts[extract.getPosition()[0]]);
      extract.erase();
    }
    if (!old.use_empty())
      old.replaceAllUsesWith(
          UnrealizedConversionCastOp::create(builder, loc, oldTypes[i], parts)
              .getResult(0));
  }
  block.eraseArguments(0, numOld);

  // A conditional branch may name the block twice.
  llvm::SmallSetVector<Operation *, 4> branches;
  for (Block *pred : block.getPredecessors())
    branches.insert(pred->getTerminator());
  for (Operation *op : branches) {
    auto branch = cast<BranchOpInterface>(op);
    builder.setInsertionPoint(op);
    for (unsigned s = 0; s < op->getNumSuccessors(); ++s) {
      if (op->getSuccessor(s) != &block)
        continue;
      SuccessorOperands operands = branch.getSuccessorOperands(s);
      SmallVector<Value> values;
      for (unsigned i = 0; i < numOld; ++i) {
        if (isSplittable(oldTypes[i]))
          llvm::append_range(values,
                             explode(builder, op->getLoc(), operands[i]));
        else
          values.push_back(operands[i]);
      }
      operands.getMutableForwardedOperands().assign(values);
    }
  }
}
} // namespace

void triton::expandPackedTensors(Operation *root) {
  SmallVector<Block *> blocks;
  root->walk([&](LLVM::LLVMFuncOp function) {
    for (Block &block : function.getBody())
      blocks.push_back(&block);
  });
  for (Block *block : blocks)
    splitBlockArguments(*block);

  SmallVector<UnrealizedConversionCastOp> casts;
  root->walk([&](UnrealizedConversionCastOp cast) {
    if (cast->getNumResults() == 1 &&
        isSplittable(cast->getResult(0).getType()))
      casts.push_back(cast);
  });
  for (UnrealizedConversionCastOp cast : llvm::reverse(casts)) {
    Value packed = cast.getResult(0);
    for (OpOperand &use : llvm::make_early_inc_range(packed.getUses())) {
      auto extract = dyn_cast<LLVM::ExtractValueOp>(use.getOwner());
      if (!extract || extract.getPosition().size() != 1)
        continue;
      extract.replaceAllUsesWith(cast.getInputs()[extract.getPosition()[0]]);
      extract.erase();
    }
    if (!packed.use_empty()) {
      OpBuilder builder(cast);
      LLVMBuilder b(cast.getLoc(), builder);
      Value aggregate = b.undef(packed.getType());
      for (auto [i, element] : llvm::enumerate(cast.getInputs()))
        aggregate = b.insertVal(aggregate, element, i);
      packed.replaceAllUsesWith(aggregate);
    }
    cast.erase();
  }
}

//===----------------------------------------------------------------------===//
// Thread positions and layouts
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Words and regions
//===----------------------------------------------------------------------===//

Value triton::mapWords(const LLVMBuilder &b, Value value,
                       function_ref<Value(Value word)> fn) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type)) {
    Value asInt = b.ptrToInt(b.intTy(64), value);
    return b.intToPtr(type, mapWords(b, asInt, fn));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 32)
    return b.bitcast(fn(b.bitcast(value, b.intTy(32))), type);
  Value asInt = b.bitcast(value, b.intTy(bits));
  if (bits < 32) {
    Value word = fn(b.zext(b.intTy(32), asInt));
    return b.bitcast(b.trunc(b.intTy(bits), word), type);
  }
  assert(bits == 64 && "elements have at most 64 bits");
  Type pair = LLVMBuilder::vecTy(b.intTy(32), 2);
  Value words = b.bitcast(value, pair);
  SmallVector<Value> mapped;
  for (Value word : b.unpackVector(words))
    mapped.push_back(fn(word));
  return b.bitcast(b.packVector(mapped), type);
}

SmallVector<Value> triton::inlineCombine(const LLVMBuilder &b, Region &region,
                                         ValueRange args) {
  assert(region.hasOneBlock() && "combine regions are straight-line code");
  IRMapping mapping;
  mapping.map(region.getArguments(), args);
  for (Operation &op : region.front().without_terminator())
    b.getBuilder().clone(op, mapping);
  SmallVector<Value> results;
  for (Value operand : region.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(operand));
  return results;
}
