//===-- LowerRecords.cpp - Records as instructions ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A header consists of words of 32 bits, in this order:
//
// - the first warp of the unit, what a record costs in cycles, the
//   multiprocessor of the unit, and an unused word;
// - the cycles and the time when the kernel began;
// - both when it ended;
// - the time when the records were in global memory, how many records the unit
//   made, and an unused word.
//
// The first half is written at the beginning, and the second half at the end.
// Each half is a whole sector of 32 bytes: memory must be read before a part of
// a sector can be written.
//
// A record has its number in the list of records, an unused word, and the
// cycles. With `clock32` it has its number and the lower half of the cycles.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/ProtonToLLVM/LowerRecords.h"

#include "RecordWriter.h"

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include "tile/Dialect/Proton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/ProfileAttributes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::proton;

namespace {
/// The different records of a module, by number. Copies that passes made of one
/// operation are one record.
class RecordList {
public:
  explicit RecordList(MLIRContext *context) : builder(context) {}

  unsigned getNumber(RecordOp op) {
    auto place = op.getLoc()->findInstanceOf<FileLineColLoc>();
    StringRef file = place ? place.getFilename().getValue() : StringRef();
    int64_t line = place ? place.getLine() : 0;
    Attribute described = builder.getDictionaryAttr(
        {builder.getNamedAttr("name", op.getNameAttr()),
         builder.getNamedAttr("start", builder.getBoolAttr(op.getIsStart())),
         builder.getNamedAttr("event", builder.getBoolAttr(op.getIsEvent())),
         builder.getNamedAttr("file", builder.getStringAttr(file)),
         builder.getNamedAttr("line", builder.getI64IntegerAttr(line))});
    auto [it, isNew] = numbers.try_emplace(described, records.size());
    if (isNew)
      records.push_back(described);
    return it->second;
  }

  ArrayAttr get() { return builder.getArrayAttr(records); }

private:
  Builder builder;
  SmallVector<Attribute> records;
  DenseMap<Attribute, unsigned> numbers;
};

/// Says how to read the memory of a launch.
void describe(ModuleOp module, const RecordPlan &plan,
              const RecordTarget &target, ArrayAttr records) {
  Builder b(module.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  module->setAttr(
      kRecordsAttrName,
      b.getDictionaryAttr(
          {number("units", plan.getNumUnits()),
           number("unit_bytes", plan.getUnitBytes()),
           number("record_bytes", plan.getRecordBytes()),
           number("header_bytes", RecordPlan::kHeaderBytes),
           number("capacity", plan.capacity),
           number("nanoseconds", target.getNanoseconds()),
           b.getNamedAttr("keeps_first", b.getBoolAttr(plan.keepsFirst)),
           b.getNamedAttr("records", records)}));
}

/// Adds the memory of the launch's records to a kernel. (What MLIR has for this
/// fails for functions of LLVM without a result.)
void addArgument(LLVM::LLVMFuncOp kernel) {
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), 1);
  LLVM::LLVMFunctionType type = kernel.getFunctionType();
  SmallVector<Type> parameters(type.getParams());
  parameters.push_back(pointer);
  kernel.setFunctionType(
      LLVM::LLVMFunctionType::get(type.getReturnType(), parameters));
  if (ArrayAttr attributes = kernel.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attributes.getValue());
    all.push_back(DictionaryAttr::get(kernel.getContext()));
    kernel.setArgAttrsAttr(ArrayAttr::get(kernel.getContext(), all));
  }
  kernel.getBody().front().addArgument(pointer, kernel.getLoc());
}

void lowerKernel(LLVM::LLVMFuncOp kernel, const RecordPlan &plan,
                 const RecordTarget &target, RecordList &list) {
  addArgument(kernel);
  SmallVector<RecordOp> records;
  SmallVector<LLVM::ReturnOp> returns;
  kernel.walk([&](RecordOp op) { records.push_back(op); });
  kernel.walk([&](LLVM::ReturnOp op) { returns.push_back(op); });
  // Stores divide blocks: where a block ends is asked before.
  SmallVector<Operation *> ends;
  for (RecordOp op : records)
    ends.push_back(op->getBlock()->getTerminator());

  IRRewriter rewriter(kernel.getContext());
  RecordWriter writer(kernel, plan, target, rewriter);
  for (auto [op, end] : llvm::zip_equal(records, ends)) {
    rewriter.setInsertionPoint(op);
    LLVMBuilder b(op.getLoc(), rewriter);
    if (plan.schedBarriers)
      target.keepInOrder(b);
    Value cycles = target.readCycles(b);
    if (plan.schedBarriers)
      target.keepInOrder(b);
    if (plan.schedStores)
      rewriter.setInsertionPoint(end);
    writer.write(b, list.getNumber(op), cycles);
    op.erase();
  }
  for (LLVM::ReturnOp op : returns) {
    rewriter.setInsertionPoint(op);
    writer.finish(LLVMBuilder(op.getLoc(), rewriter));
  }
}
} // namespace

LogicalResult proton::lowerRecords(ModuleOp module, const RecordTarget &target,
                                   const RecordOptions &options) {
  RecordOp first;
  WalkResult found = module.walk([&](RecordOp op) {
    if (!first)
      first = op;
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    if (function && function.getLinkage() == LLVM::Linkage::External)
      return WalkResult::advance();
    op.emitError("a function that is called cannot record: let it be inlined");
    return WalkResult::interrupt();
  });
  if (found.wasInterrupted())
    return failure();
  if (!first)
    return success();
  FailureOr<RecordPlan> plan =
      planRecords(module, first, target.getInfo().getModel(), options);
  if (failed(plan))
    return failure();

  Builder b(module.getContext());
  if (plan->ring) {
    if (!module.lookupSymbol("global_smem"))
      declareSharedMemory(module, target.getInfo().getSharedAddressSpace());
    module->setAttr(
        gpu::kSharedAttrName,
        b.getI32IntegerAttr(plan->sharedOffset + plan->getSharedBytes()));
  }
  module->setAttr(gpu::kProfileScratchSizeAttrName,
                  b.getI32IntegerAttr(plan->getBlockBytes()));
  module->setAttr(gpu::kProfileScratchAlignmentAttrName,
                  b.getI32IntegerAttr(16));
  RecordList list(module.getContext());
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal() && kernel.getLinkage() == LLVM::Linkage::External)
      lowerKernel(kernel, *plan, target, list);
  describe(module, *plan, target, list.get());
  return success();
}
