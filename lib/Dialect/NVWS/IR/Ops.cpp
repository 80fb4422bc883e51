//===-- Ops.cpp - Rings and partitions ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

//===----------------------------------------------------------------------===//
// Custom directives: lists of types of which the last (and first) is one apart
//===----------------------------------------------------------------------===//

static ParseResult parseBuffersAndToken(OpAsmParser &parser,
                                        SmallVectorImpl<Type> &buffers,
                                        Type &token) {
  if (parser.parseTypeList(buffers))
    return failure();
  token = buffers.pop_back_val();
  return success();
}

static void printBuffersAndToken(OpAsmPrinter &printer, Operation *,
                                 TypeRange buffers, Type token) {
  for (Type buffer : buffers)
    printer << buffer << ", ";
  printer << token;
}

static ParseResult parseDescriptorLoadTypes(OpAsmParser &parser, Type &desc,
                                            SmallVectorImpl<Type> &indices,
                                            Type &result) {
  if (parser.parseType(desc) || parser.parseComma() ||
      parser.parseTypeList(indices))
    return failure();
  result = indices.pop_back_val();
  return success();
}

static void printDescriptorLoadTypes(OpAsmPrinter &printer, Operation *,
                                     Type desc, TypeRange indices,
                                     Type result) {
  printer << desc << ", ";
  for (Type index : indices)
    printer << index << ", ";
  printer << result;
}

#define GET_OP_CLASSES
#include "tile/Dialect/NVWS/IR/Ops.cpp.inc"

//===----------------------------------------------------------------------===//
// Asynchronous references
//===----------------------------------------------------------------------===//

/// Checks that `slot` are the buffers of one slot of `aref`.
static LogicalResult verifySlot(Operation *op, ArefType aref, TypeRange slot) {
  if (slot.size() != aref.getTypes().size())
    return op->emitOpError("expected ")
           << aref.getTypes().size() << " buffers, as the reference has, found "
           << slot.size();
  for (auto [ring, buffer] : llvm::zip(aref.getTypes(), slot)) {
    auto ringType = dyn_cast<gpu::MemDescType>(ring);
    auto type = cast<gpu::MemDescType>(buffer);
    if (!ringType)
      return op->emitOpError("expected a reference to memory descriptors, "
                             "found one to ")
             << ring;
    if (type.getElementType() != ringType.getElementType() ||
        type.getShape() != ringType.getShape().drop_front())
      return op->emitOpError("expected a buffer of one slot of ")
             << ringType << ", found " << type;
  }
  return success();
}

LogicalResult ArefCreateOp::verify() {
  std::optional<int64_t> slots;
  for (Type type : getBuffers().getTypes()) {
    int64_t found = cast<gpu::MemDescType>(type).getShape().front();
    if (found != slots.value_or(found))
      return emitOpError("expected buffers of ")
             << *slots << " slots each, like the first one, found " << found;
    slots = found;
  }
  return success();
}

LogicalResult ArefPutEnterOp::verify() {
  return verifySlot(*this, getAref().getType(), getBuffers().getTypes());
}

LogicalResult ArefGetEnterOp::verify() {
  return verifySlot(*this, getAref().getType(), getBuffers().getTypes());
}

LogicalResult ArefBufferOp::verify() {
  return verifySlot(*this, getAref().getType(), getBuffers().getTypes());
}

//===----------------------------------------------------------------------===//
// WarpGroupOp
//===----------------------------------------------------------------------===//

/// warp-group ::= attr-dict-with-keyword
///                (`partition`N `num_warps` `(` integer `)` region)*
///                (`->` `(` types `)`)?
ParseResult WarpGroupOp::parse(OpAsmParser &parser, OperationState &state) {
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SmallVector<int32_t> numWarps;
  while (succeeded(parser.parseOptionalKeyword(
      ("partition" + Twine(numWarps.size())).str()))) {
    if (parser.parseKeyword("num_warps") || parser.parseLParen() ||
        parser.parseInteger(numWarps.emplace_back()) || parser.parseRParen() ||
        parser.parseRegion(*state.addRegion()))
      return failure();
  }
  state.getOrAddProperties<Properties>().setNumWarps(
      parser.getBuilder().getDenseI32ArrayAttr(numWarps));
  return parser.parseOptionalArrowTypeList(state.types);
}

void WarpGroupOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getNumWarpsAttrName()});
  for (auto [i, region] : llvm::enumerate(getPartitions())) {
    printer.printNewline();
    printer << "partition" << i;
    if (i < getNumWarps().size())
      printer << " num_warps(" << getNumWarps()[i] << ")";
    printer << ' ';
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  if (!getOutputs().empty())
    printer << " -> (" << getOutputs().getTypes() << ")";
}

LogicalResult WarpGroupOp::verify() {
  if (getNumWarps().size() != getPartitions().size())
    return emitOpError("expected a number of warps for each of ")
           << getPartitions().size() << " partitions, found "
           << getNumWarps().size();
  for (int32_t warps : getNumWarps())
    if (warps <= 0 || !llvm::isPowerOf2_32(warps))
      return emitOpError("expected powers of two as numbers of warps, found ")
             << warps;
  for (auto [i, region] : llvm::enumerate(getPartitions())) {
    Operation *end = region.front().getTerminator();
    auto yield = dyn_cast<WarpGroupYieldOp>(end);
    bool yields = i == 0 && !getOutputs().empty();
    if (yields && !yield)
      return end->emitOpError("expected 'nvws.warp_group.yield' at the end of "
                              "a first partition with results");
    if (!yields && yield && !yield.getValues().empty())
      return end->emitOpError(
                 "expected no values where nothing is a result, found ")
             << yield.getValues().getTypes();
    if (yields && yield.getValues().getTypes() != getOutputs().getTypes())
      return end->emitOpError("expected values of the types of the results, ")
             << getOutputs().getTypes() << ", found "
             << yield.getValues().getTypes();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values of several partitions
//===----------------------------------------------------------------------===//

static SmallVector<int32_t> toVector(Attribute partitions) {
  auto array = dyn_cast_or_null<DenseI32ArrayAttr>(partitions);
  return array ? SmallVector<int32_t>(array.asArrayRef())
               : SmallVector<int32_t>();
}

static SmallVector<int32_t> getPartitions(Operation *op) {
  return toVector(op->getAttr(gpu::kPartitionAttr));
}

/// The partitions that have a value: those of the operation that makes it, or
/// of the loop that carries it.
static SmallVector<int32_t> getPartitionsOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) {
    Operation *def = value.getDefiningOp();
    auto outputs = def->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr);
    unsigned number = cast<OpResult>(value).getResultNumber();
    return outputs && number < outputs.size() ? toVector(outputs[number])
                                              : getPartitions(def);
  }
  auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  OpResult result = loop ? loop.getTiedLoopResult(argument) : OpResult();
  auto lists = result
                   ? loop->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr)
                   : ArrayAttr();
  if (!lists || result.getResultNumber() >= lists.size())
    return {};
  return toVector(lists[result.getResultNumber()]);
}

LogicalResult ArefPhiOp::verify() {
  SmallVector<int32_t> all = getPartitions(*this);
  if (all.empty())
    return emitOpError("expected the partitions that it is in, found none");
  SmallVector<int32_t> lhs = getPartitionsOf(getLhs()),
                       rhs = getPartitionsOf(getRhs());
  for (auto [partitions, name] :
       {std::pair{ArrayRef(lhs), "first"}, {ArrayRef(rhs), "second"}})
    if (partitions.empty())
      return emitOpError("expected the ")
             << name << " operand to be in partitions, found none";
  for (int32_t partition : lhs)
    if (llvm::is_contained(rhs, partition))
      return emitOpError("expected each partition to have one of the operands, "
                         "found both in partition ")
             << partition;
  SmallVector<int32_t> either(lhs);
  llvm::append_range(either, rhs);
  llvm::sort(either);
  llvm::sort(all);
  if (either != all)
    return emitOpError("expected to be in the partitions of the operands, ")
           << either << ", found " << all;
  return success();
}
