//===-- Ops.cpp - Generated code of the ttnvgpu operations ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

/// token ::= (`[` dependency? `]`)?
/// The brackets say that there is a token among the results.
static ParseResult
parseToken(OpAsmParser &parser,
           std::optional<OpAsmParser::UnresolvedOperand> &dependency,
           Type &token) {
  if (failed(parser.parseOptionalLSquare()))
    return success();
  token = gpu::AsyncTokenType::get(parser.getContext());
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  if (parser.parseOperand(dependency.emplace()))
    return failure();
  return parser.parseRSquare();
}

static void printToken(OpAsmPrinter &printer, Operation *, Value dependency,
                       Type token) {
  if (!token)
    return;
  printer << '[';
  if (dependency)
    printer << dependency;
  printer << ']';
}

/// barriers-and-preds ::= (`,` barrier `[` predicate `]`)*
static ParseResult parseBarriersAndPreds(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &barriers,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &predicates) {
  while (succeeded(parser.parseOptionalComma())) {
    if (parser.parseOperand(barriers.emplace_back()) || parser.parseLSquare() ||
        parser.parseOperand(predicates.emplace_back()) || parser.parseRSquare())
      return failure();
  }
  return success();
}

static void printBarriersAndPreds(OpAsmPrinter &printer, Operation *,
                                  OperandRange barriers,
                                  OperandRange predicates) {
  for (auto [barrier, predicate] : llvm::zip(barriers, predicates))
    printer << ", " << barrier << '[' << predicate << ']';
}

/// The attributes of a view. `N` is an older name of `offset`. Parts of
/// columns, `dim = 1`, need not say so.
static ParseResult parseTensorMemoryPart(OpAsmParser &parser,
                                         NamedAttrList &attributes) {
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  if (Attribute offset = attributes.erase("N"))
    attributes.set("offset", offset);
  return success();
}

static void printTensorMemoryPart(OpAsmPrinter &printer, Operation *,
                                  DictionaryAttr attributes) {
  // `printOptionalAttrDict` would put a second space before the attributes.
  printer << '{';
  auto isWritten = [](NamedAttribute attribute) {
    auto dim = dyn_cast<IntegerAttr>(attribute.getValue());
    return attribute.getName() != "dim" || !dim || dim.getValue() != 1;
  };
  llvm::interleaveComma(
      llvm::make_filter_range(attributes.getValue(), isWritten), printer,
      [&](NamedAttribute attribute) {
        printer.printNamedAttribute(attribute);
      });
  printer << '}';
}

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/Ops.cpp.inc"

//===----------------------------------------------------------------------===//
// Checks that several themes share
//===----------------------------------------------------------------------===//

LogicalResult nvidia_gpu::verifyBarrierType(Operation *op,
                                            gpu::MemDescType type,
                                            StringRef what) {
  // A cluster may have an array with one for each of its blocks. Where the
  // blocks do not divide it, the barrier of each is the first of its copy.
  auto countsBlocks = [&] {
    int64_t blocks = llvm::product_of(gpu::getCTAsPerCGA(type.getEncoding()));
    return type.getShape().front() <= blocks;
  };
  if (type.getRank() != 1 || !type.getElementType().isSignlessInteger(64) ||
      !isInSharedMemory(type) || !countsBlocks())
    return op->emitOpError()
           << "expected " << what
           << " to be a 1xi64 buffer in shared memory, found " << type;
  return success();
}

LogicalResult nvidia_gpu::verifyTensorMemory(Operation *op,
                                             gpu::MemDescType type,
                                             StringRef what) {
  return getTensorMemoryFootprint(
      type, [&] { return op->emitOpError() << what << ": "; });
}

LogicalResult nvidia_gpu::verifySharedMemory(Operation *op,
                                             gpu::MemDescType type,
                                             StringRef what) {
  if (isInSharedMemory(type))
    return success();
  return op->emitOpError() << "expected " << what << " in shared memory, found "
                           << type;
}

LogicalResult nvidia_gpu::verifyMutable(Operation *op, gpu::MemDescType type,
                                        StringRef what) {
  if (type.getMutableMemory())
    return success();
  return op->emitOpError() << "expected " << what << " to be mutable, found "
                           << type;
}

LogicalResult nvidia_gpu::verifyTokens(Operation *op, Value dependency,
                                       Value token) {
  if (!dependency || token)
    return success();
  return op->emitOpError(
      "expected a token as result where one is an operand, found none");
}
