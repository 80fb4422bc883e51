//===-- Elements.cpp - The elements of tensors as values ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Elements.h"

#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;

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
    if (old.use_empty())
      continue;
    // The first operation may just have been erased.
    builder.setInsertionPointToStart(&block);
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
  root->walk([&](Block *block) { blocks.push_back(block); });
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

  // What is left are pairs between scalar types.
  SmallVector<UnrealizedConversionCastOp> scalars;
  root->walk([&](UnrealizedConversionCastOp cast) { scalars.push_back(cast); });
  if (!scalars.empty())
    reconcileUnrealizedCasts(scalars);
}

//===----------------------------------------------------------------------===//
// Words
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
