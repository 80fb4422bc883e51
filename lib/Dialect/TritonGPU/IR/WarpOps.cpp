//===-- WarpOps.cpp - Warps and warp specialisation -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// WarpSpecializeOp
//===----------------------------------------------------------------------===//

WarpSpecializePartitionsOp WarpSpecializeOp::getPartitionOp() {
  return cast<WarpSpecializePartitionsOp>(
      getPartitionOpHolder().front().front());
}

MutableArrayRef<Region> WarpSpecializeOp::getPartitionRegions() {
  return getPartitionOp().getPartitionRegions();
}

unsigned WarpSpecializeOp::getTotalPartitionWarps() {
  unsigned total = 0;
  for (int32_t warps : getPartitionNumWarps())
    total += warps;
  return total;
}

void WarpSpecializeOp::build(OpBuilder &builder, OperationState &state,
                             TypeRange resultTypes, ValueRange explicitCaptures,
                             ArrayRef<int32_t> partitionNumWarps) {
  build(builder, state, resultTypes, explicitCaptures, partitionNumWarps,
        /*warpGroupStartIds=*/{}, /*requestedRegisters=*/{},
        /*actualRegisters=*/{});
}

void WarpSpecializeOp::build(OpBuilder &builder, OperationState &state,
                             TypeRange resultTypes,
                             ArrayRef<int32_t> partitionNumWarps,
                             unsigned numPartitionRegions) {
  build(builder, state, resultTypes, /*explicitCaptures=*/ValueRange(),
        partitionNumWarps);
  OpBuilder::InsertionGuard guard(builder);
  Block *holder = builder.createBlock(state.regions.back().get());
  builder.setInsertionPointToStart(holder);
  WarpSpecializePartitionsOp::create(builder, state.location,
                                     numPartitionRegions);
}

ParseResult WarpSpecializeOp::parse(OpAsmParser &parser,
                                    OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  SMLoc loc = parser.getCurrentLocation();
  Region *defaultRegion = result.addRegion();
  Region *holder = result.addRegion();
  if (parser.parseOperandList(captures, AsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseKeyword("default") || parser.parseRegion(*defaultRegion))
    return failure();

  OperationState partitions(parser.getEncodedSourceLoc(loc),
                            WarpSpecializePartitionsOp::getOperationName());
  SmallVector<int32_t> numWarps;
  while (succeeded(parser.parseOptionalKeyword(
      ("partition" + Twine(numWarps.size())).str()))) {
    SmallVector<OpAsmParser::Argument> args;
    if (parser.parseArgumentList(args, AsmParser::Delimiter::Paren,
                                 /*allowType=*/true) ||
        parser.parseKeyword("num_warps") || parser.parseLParen() ||
        parser.parseInteger(numWarps.emplace_back()) || parser.parseRParen() ||
        parser.parseRegion(*partitions.addRegion(), args))
      return failure();
  }

  FunctionType type;
  if (parser.parseColon() || parser.parseType(type) ||
      parser.resolveOperands(captures, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.addAttribute(getPartitionNumWarpsAttrName(result.name),
                      parser.getBuilder().getDenseI32ArrayAttr(numWarps));
  holder->emplaceBlock().push_back(Operation::create(partitions));
  return success();
}

void WarpSpecializeOp::print(OpAsmPrinter &printer) {
  printer << "(";
  printer.printOperands(getOperands());
  printer << ")";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      /*elidedAttrs=*/{getPartitionNumWarpsAttrName().getValue()});
  printer.printNewline();
  printer << "default ";
  printer.printRegion(getDefaultRegion(), /*printEntryBlockArgs=*/false);
  for (auto [i, region, numWarps] :
       llvm::enumerate(getPartitionRegions(), getPartitionNumWarps())) {
    printer.printNewline();
    printer << "partition" << i << "(";
    llvm::interleaveComma(
        region.getArguments(), printer,
        [&](BlockArgument arg) { printer.printRegionArgument(arg); });
    printer << ") num_warps(" << numWarps << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult WarpSpecializeOp::verify() {
  Block &holder = getPartitionOpHolder().front();
  if (!llvm::hasSingleElement(holder) ||
      !isa<WarpSpecializePartitionsOp>(holder.front()))
    return emitOpError() << "expected the second region to hold one '"
                         << WarpSpecializePartitionsOp::getOperationName()
                         << "' and nothing else, found "
                         << holder.getOperations().size() << " operations";
  size_t numPartitions = getPartitionRegions().size();
  if (getPartitionNumWarps().size() != numPartitions)
    return emitOpError()
           << "expected 'partitionNumWarps' to have an entry for each of "
           << numPartitions << " partitions, found "
           << getPartitionNumWarps().size();
  for (auto [i, numWarps] : llvm::enumerate(getPartitionNumWarps()))
    if (numWarps <= 0 || !llvm::isPowerOf2_32(numWarps))
      return emitOpError() << "expected partition " << i
                           << " to have a power of two of warps, found "
                           << numWarps;

  struct {
    StringRef name;
    std::optional<ArrayRef<int32_t>> values;
    size_t expected;
  } perPartition[] = {
      {"warpGroupStartIds", getWarpGroupStartIds(), numPartitions},
      {"requestedRegisters", getRequestedRegisters(), numPartitions},
      {"actualRegisters", getActualRegisters(), numPartitions + 1}};
  for (auto &[name, values, expected] : perPartition)
    if (values && values->size() != expected)
      return emitOpError() << "expected '" << name << "' to have " << expected
                           << " entries, found " << values->size();

  for (auto [i, region] : llvm::enumerate(getPartitionRegions())) {
    if (region.getNumArguments() != getNumOperands())
      return emitOpError() << "expected partition " << i << " to have "
                           << getNumOperands()
                           << " arguments, one for each captured value, found "
                           << region.getNumArguments();
    for (auto [j, arg, operand] :
         llvm::enumerate(region.getArguments(), getOperandTypes()))
      if (arg.getType() != operand)
        return emitOpError()
               << "expected argument " << j << " of partition " << i
               << " to have type " << operand
               << ", that of the captured value, found " << arg.getType();
  }
  // Which warps would a partition of a partition run on?
  if ((*this)->getParentOfType<WarpSpecializePartitionsOp>())
    return emitOpError("expected to stand outside of the partitions of others, "
                       "found itself in one");
  return success();
}

void WarpSpecializeOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  // The partitions are entered from the holder.
  if (point.isParent()) {
    successors.emplace_back(&getDefaultRegion());
    successors.emplace_back(&getPartitionOpHolder());
    return;
  }
  successors.emplace_back(getOperation(), getDefaultPassthrough());
}

//===----------------------------------------------------------------------===//
// WarpSpecializePartitionsOp, WarpYieldOp
//===----------------------------------------------------------------------===//

LogicalResult WarpSpecializePartitionsOp::verify() {
  for (auto [i, region] : llvm::enumerate(getPartitionRegions()))
    for (Block &block : region)
      if (block.mightHaveTerminator() &&
          isa<WarpYieldOp>(block.getTerminator()))
        return emitOpError()
               << "expected partition " << i
               << " to end in 'ttg.warp_return', found 'ttg.warp_yield'";
  return success();
}

LogicalResult WarpYieldOp::verify() {
  auto parent = cast<WarpSpecializeOp>((*this)->getParentOp());
  if (getOperandTypes() != parent.getResultTypes())
    return emitOpError() << "expected values of types ("
                         << parent.getResultTypes()
                         << "), those of the results, found ("
                         << getOperandTypes() << ")";
  return success();
}
