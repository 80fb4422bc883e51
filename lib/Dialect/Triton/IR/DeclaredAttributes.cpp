//===-- DeclaredAttributes.cpp - Discardable attributes of tt ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/DeclaredAttributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Dialect/Triton/IR/CallAttributes.h"
#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Support/AttributeNames.h"

using namespace mlir;
using namespace mlir::triton;

using Is = AttributeValue;
using On = AttributeHolder;

static constexpr DeclaredAttribute kTable[] = {
    {kDivisibilityAttr, Is::Facts, On::Any,
     "Runs of elements start at multiples of this, and nothing wraps around "
     "inside of such a run. On a descriptor: the bytes of its rows."},
    {kContiguityAttr, Is::Facts, On::Any,
     "So many neighbours follow one another, each by one."},
    {kConstancyAttr, Is::Facts, On::Any, "So many neighbours are equal."},
    {kMaxDivisibilityAttr, Is::Facts, On::Argument,
     "Read from other compilers' texts; nothing uses it."},
    {kPointerRangeAttr, Is::Facts, On::Argument,
     "The bits of offsets that reach all behind the pointer."},
    {kNonNegativeAttr, Is::Integer, On::Argument,
     "The integer is never negative."},
    {kMaxAttr, Is::Integer, On::Argument,
     "The greatest number that the integer ever is."},
    {kTMADescriptorAttr, Is::NotNegative, On::Argument,
     "The pointer is to a tensor map."},
    {kZeroPaddedAttrName, Is::Facts, On::Argument,
     "Elements out of the descriptor's bounds read as zeros."},
    {kRoundsToTF32AttrName, Is::Facts, On::Argument,
     "Loads through the descriptor round elements of f32 to tf32."},
    {kOfArgumentsAttrName, Is::Unit, On::Operation,
     "The descriptor is made of arguments of the kernel alone: the launch may "
     "make it."},
    {kDisjointArgumentsAttrName, Is::Indices, On::Function,
     "Pairs of arguments that were taken to be disjoint; launches check it."},
    {kSmallArgumentsAttrName, Is::Indices, On::Function,
     "Arguments that were taken to have less than 2^31 bytes behind them; "
     "launches check it."},
    {kUndefinedLoadsAttrName, Is::Strings, On::Module,
     "The places of loads whose undefined lanes may matter."},
    {kLongestExtentAttrName, Is::Positive, On::Module,
     "Tensors with longer dimensions are to become several."},
    {kGroupWarpsAttrName, Is::Positive, On::Module,
     "The warps that run a program, instead of as many as were asked for: "
     "others get the rest of the work."},
    {kPrefetchAttr, Is::Unit, On::Any,
     "The assembly only asks caches for lines of memory: accesses may pass "
     "it."},
    {kEvictionAttr, Is::Positive, On::Operation,
     "How long caches are to keep what is changed: the number of an eviction "
     "policy."},
    {kNoArgumentsAttr, Is::Unit, On::Operation,
     "The function of a library takes no arguments: the operand gives the "
     "shape "
     "alone."},
    {kFirstIndexAttrName, Is::Indices, On::Any,
     "What is printed is a piece of a tensor, and begins there."},
    {kPieceAttrName, Is::Indices, On::Any,
     "The number of the piece of a block that is accessed, and the shape of "
     "the block."},
    {gpu::kNumStagesAttr, Is::NotNegative, On::Loop,
     "How many iterations of the loop may be under way."},
    {gpu::kUnrollFactorAttr, Is::Positive, On::Loop,
     "How often the body is to be repeated."},
    {gpu::kFlattenAttr, Is::Flag, On::Loop, "The nest is to become one loop."},
    {gpu::kDisallowMultiBufferAttr, Is::Flag, On::Loop,
     "A sum in tensor memory is to have one buffer, even where two would "
     "help."},
    {gpu::kWarpSpecializeAttr, Is::Flag, On::Loop,
     "The copies of the loop are to get warps of their own."},
    {gpu::kLatencyAttr, Is::Count, On::Operation,
     "So many stages before its uses the operation is to run."},
    {gpu::kMaxStageAttr, Is::Count, On::Loop,
     "The last stage of the loop's schedule."},
};

LogicalResult TritonDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  return verifyDeclaredAttribute(kTable, op, attr);
}

/// Whether `value` is a positive number; or, about a tensor of `rank`
/// dimensions, as many of them.
static bool isFact(Attribute value, std::optional<int64_t> rank) {
  auto isPositive = [](const APInt &fact) { return fact.isStrictlyPositive(); };
  if (auto number = dyn_cast<IntegerAttr>(value))
    return isPositive(number.getValue());
  auto numbers = dyn_cast<DenseIntElementsAttr>(value);
  return rank && numbers && numbers.getNumElements() == *rank &&
         llvm::all_of(numbers.getValues<APInt>(), isPositive);
}

/// Attributes of kernel arguments state facts that the compiler relies on, so
/// a malformed one must not pass as an absent one.
LogicalResult TritonDialect::verifyRegionArgAttribute(Operation *op,
                                                      unsigned regionIndex,
                                                      unsigned argIndex,
                                                      NamedAttribute attr) {
  bool isFactual = llvm::any_of(kTable, [&](const DeclaredAttribute &row) {
    return row.value == Is::Facts && row.name == attr.getName().strref();
  });
  if (!isFactual)
    return verifyDeclaredArgumentAttribute(kTable, op, argIndex, attr);
  std::optional<int64_t> rank;
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    if (auto tensor =
            dyn_cast<RankedTensorType>(function.getArgumentTypes()[argIndex]))
      rank = tensor.getRank();
  if (isFact(attr.getValue(), rank))
    return success();
  InFlightDiagnostic error = op->emitOpError("argument #")
                             << argIndex << ": expected a positive integer";
  if (rank)
    error << " or one for each of " << *rank << " dimensions";
  return error << " as '" << attr.getName().strref() << "', found "
               << attr.getValue();
}

LogicalResult TritonDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kTable, op, result, attribute);
}
