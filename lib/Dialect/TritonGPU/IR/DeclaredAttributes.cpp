//===-- DeclaredAttributes.cpp - Discardable attributes of ttg -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The attributes of `loop`, `allocation` and `tile` are verified by dialects of
// these names, which have nothing else. They are there whenever ttg is.
//
//===----------------------------------------------------------------------===//

#include "DeclaredAttributes.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/DivisionAttributes.h"
#include "tile/Dialect/TritonGPU/IR/IterationAttributes.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"
#include "tile/Dialect/TritonGPU/IR/ProfileAttributes.h"
#include "tile/Dialect/TritonGPU/IR/TurnAttributes.h"
#include "tile/Support/DeclaredAttributes.h"
#include "tile/Support/WaitAttributes.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

using Is = AttributeValue;
using On = AttributeHolder;

static constexpr DeclaredAttribute kTable[] = {
    {kTargetAttrName, Is::String, On::Operation,
     "The machine: its kind and its architecture."},
    {kNumWarpsAttrName, Is::PowerOfTwo, On::Operation,
     "The warps that run what is inside."},
    {kNumCTAsAttrName, Is::PowerOfTwo, On::Operation,
     "The blocks of a cluster."},
    {kThreadsPerWarpAttrName, Is::PowerOfTwo, On::Operation,
     "The threads of a warp."},
    {kTotalNumWarpsAttrName, Is::Count, On::Operation,
     "The warps of a block, those of partitions among them."},
    {kMaxNRegAttrName, Is::Count, On::Operation,
     "The most registers that a thread may have."},
    {kSharedAttrName, Is::Count, On::Operation,
     "The bytes of shared memory that the kernel takes."},
    {kTensorMemorySizeAttrName, Is::Count, On::Operation,
     "The columns of tensor memory that the kernel takes."},
    {kGlobalScratchSizeAttrName, Is::Count, On::Operation,
     "The bytes of scratch memory that a program takes."},
    {kGlobalScratchAlignmentAttrName, Is::PowerOfTwo, On::Operation,
     "What scratch memory starts at a multiple of."},
    {kGlobalScratchOffsetAttrName, Is::Count, On::Operation,
     "Where a buffer starts in scratch memory."},
    {kProfileScratchSizeAttrName, Is::Count, On::Module,
     "The bytes that the records of a program take."},
    {kProfileScratchAlignmentAttrName, Is::PowerOfTwo, On::Module,
     "What the memory for records starts at a multiple of."},
    {kOverlappingArgumentsAttrName, Is::Unit, On::Module,
     "Pointer arguments of the kernels may overlap."},
    {kBarriersInsertedAttrName, Is::Unit, On::Module,
     "Accesses to shared memory have the barriers they need."},
    {kPartitionAttr, Is::Partitions, On::Operation,
     "The partition of warps that runs the operation; others belong to the "
     "default group."},
    {kIndependentIterationsAttrName, Is::Unit, On::Loop,
     "No iteration waits for what another one does."},
    {kDividesOperandAttrName, Is::Unit, On::Operation,
     "The operand of a dot behind this conversion is divided over the cluster "
     "as its result is."},
    {kSyncedByWaitAttrName, Is::Flag, On::Operation,
     "Taken from users: the program has waited for the copies that this reads. "
     "Nothing uses it, as that is known of every read."},
    {kPartitionOutputsAttr, Is::PartitionLists, On::Operation,
     "The partitions that have each result of a loop or branch."},
    {kPartitionStagesAttr, Is::Integers, On::Operation,
     "Taken from users: how far ahead each partition of a loop is."},
    {kWarpSpecializeTagAttr, Is::NotNegative, On::Operation,
     "The same number for a loop in partitions and for what is in front of it "
     "and behind it that they run."},
};

static constexpr DeclaredAttribute kLoopTable[] = {
    {kStageAttr, Is::NotNegative, On::Operation,
     "The stage of the loop's schedule that the operation runs in."},
    {kClusterAttr, Is::Integer, On::Operation,
     "Operations of a lower cluster come first in the new body."},
    {kUnguardedAttr, Is::Unit, On::Operation,
     "A write to a buffer that nothing reads after the loop: it may also "
     "happen for iterations that do not exist."},
    {kSelectAttr, Is::Unit, On::Operation,
     "On `select true, a, b`: `b` is for iterations that do not exist."},
};

static constexpr DeclaredAttribute kAllocationTable[] = {
    {kAllocationOffsetAttrName, Is::Offsets, On::Operation,
     "Where the buffer of the operation starts in the frame of its function; "
     "of "
     "a buffer in parts, where each part does."},
    {kOneTurnAttrName, Is::Unit, On::Operation,
     "The conversion takes one turn through shared memory, however much it "
     "takes."},
    {kTurnBytesAttrName, Is::Positive, On::Operation,
     "The conversion goes through shared memory in turns of at most so many "
     "bytes."},
};

static constexpr DeclaredAttribute kTileTable[] = {
    {kLoadedOnceAttrName, Is::Unit, On::Operation,
     "One thread makes the load, which decides something and reads what the "
     "kernel may write."},
    {kSharedMemoryArgumentAttrName, Is::Unit, On::Function,
     "The function gets shared memory as an argument."},
    {kStaysInPlaceAttrName, Is::Unit, On::Operation,
     "LLVM must leave the load in its loop."},
};

LogicalResult
TritonGPUDialect::verifyOperationAttribute(Operation *op,
                                           NamedAttribute attribute) {
  return verifyDeclaredAttribute(kTable, op, attribute);
}

LogicalResult TritonGPUDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verifyDeclaredArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult TritonGPUDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kTable, op, result, attribute);
}

namespace {
/// A dialect that has attributes only.
template <typename DialectT> struct AttributeDialect : Dialect {
  explicit AttributeDialect(MLIRContext *context)
      : Dialect(DialectT::getDialectNamespace(), context,
                TypeID::get<DialectT>()) {}
  LogicalResult verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) override {
    return verifyDeclaredAttribute(DialectT::getTable(), op, attribute);
  }
  LogicalResult verifyRegionArgAttribute(Operation *op, unsigned,
                                         unsigned argument,
                                         NamedAttribute attribute) override {
    return verifyDeclaredArgumentAttribute(DialectT::getTable(), op, argument,
                                           attribute);
  }
  LogicalResult verifyRegionResultAttribute(Operation *op, unsigned,
                                            unsigned result,
                                            NamedAttribute attribute) override {
    return verifyDeclaredResultAttribute(DialectT::getTable(), op, result,
                                         attribute);
  }
};

struct LoopDialect : AttributeDialect<LoopDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LoopDialect)
  using AttributeDialect::AttributeDialect;
  static constexpr StringLiteral getDialectNamespace() { return "loop"; }
  static ArrayRef<DeclaredAttribute> getTable() { return kLoopTable; }
};

struct AllocationDialect : AttributeDialect<AllocationDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllocationDialect)
  using AttributeDialect::AttributeDialect;
  static constexpr StringLiteral getDialectNamespace() { return "allocation"; }
  static ArrayRef<DeclaredAttribute> getTable() { return kAllocationTable; }
};

struct TileDialect : AttributeDialect<TileDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileDialect)
  using AttributeDialect::AttributeDialect;
  static constexpr StringLiteral getDialectNamespace() { return "tile"; }
  static ArrayRef<DeclaredAttribute> getTable() { return kTileTable; }
};
} // namespace

void gpu::loadAttributeDialects(MLIRContext &context) {
  context.loadDialect<LoopDialect, AllocationDialect, TileDialect>();
}
