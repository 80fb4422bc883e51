//===-- InlineRegion.cpp - Copies of scalar regions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copied operations keep their types of tt and arith. They are lowered
// after the operation whose region it is. Until then, casts stand between these
// types and those of the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/InlineRegion.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::triton;

static Value castTo(const LLVMBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return b.create<UnrealizedConversionCastOp>(type, value).getResult(0);
}

static SmallVector<Value> castToLLVM(const LLVMBuilder &b,
                                     const TypeConverter &converter,
                                     ValueRange values) {
  SmallVector<Value> results;
  for (Value value : values)
    results.push_back(castTo(b, value, converter.convertType(value.getType())));
  return results;
}

SmallVector<Value> triton::inlineRegion(const LLVMBuilder &b,
                                        const TypeConverter &converter,
                                        Region &region, ValueRange args) {
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip_equal(region.getArguments(), args))
    mapping.map(argument, castTo(b, value, argument.getType()));
  if (region.hasOneBlock()) {
    for (Operation &op : region.front().without_terminator())
      b.getBuilder().clone(op, mapping);
    SmallVector<Value> results;
    for (Value operand : region.front().getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(operand));
    return castToLLVM(b, converter, results);
  }

  // Every lowering builds through a rewriter, which must hear of the split.
  auto &rewriter = static_cast<RewriterBase &>(b.getBuilder());
  Block *before = rewriter.getInsertionBlock();
  Block *after = rewriter.splitBlock(before, rewriter.getInsertionPoint());
  rewriter.cloneRegionBefore(region, *after->getParent(), after->getIterator(),
                             mapping);
  rewriter.setInsertionPointToEnd(before);
  b.create<LLVM::BrOp>(ValueRange(), mapping.lookup(&region.front()));
  for (Block &block : region) {
    Operation *original = block.getTerminator();
    if (original->getNumSuccessors() != 0 ||
        !original->hasTrait<::mlir::OpTrait::ReturnLike>())
      continue;
    Operation *terminator = mapping.lookup(&block)->getTerminator();
    rewriter.setInsertionPoint(terminator);
    SmallVector<Value> results =
        castToLLVM(b, converter, terminator->getOperands());
    if (after->getNumArguments() == 0)
      for (Value result : results)
        after->addArgument(result.getType(), b.getLoc());
    b.create<LLVM::BrOp>(results, after);
    rewriter.eraseOp(terminator);
  }
  rewriter.setInsertionPointToStart(after);
  return llvm::to_vector_of<Value>(after->getArguments());
}
