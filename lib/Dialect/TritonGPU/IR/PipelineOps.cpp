//===-- PipelineOps.cpp - Operations of software pipelining ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// PredicateStageOp
//===----------------------------------------------------------------------===//

LogicalResult PredicateStageOp::verify() {
  int32_t stage = getStage(), maxStage = getMaxStage();
  if (stage < 0 || stage > maxStage)
    return emitOpError() << "expected 'stage' to be 0 to " << maxStage
                         << ", found " << stage;
  return success();
}

OpFoldResult PredicateStageOp::fold(FoldAdaptor adaptor) {
  auto iv = dyn_cast_or_null<IntegerAttr>(adaptor.getIv());
  auto ub = dyn_cast_or_null<IntegerAttr>(adaptor.getUb());
  auto step = dyn_cast_or_null<IntegerAttr>(adaptor.getStep());
  if (!iv || !ub || !step)
    return {};
  APInt distance(step.getValue().getBitWidth(), getMaxStage() - getStage());
  bool hasWork = iv.getValue().slt(ub.getValue() - step.getValue() * distance);
  return BoolAttr::get(getContext(), hasWork);
}

//===----------------------------------------------------------------------===//
// MaskOp
//===----------------------------------------------------------------------===//

ParseResult MaskOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand pred;
  SmallVector<Type> types;
  Region *region = result.addRegion();
  if (parser.parseOperand(pred) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*region) || parser.parseOptionalColonTypeList(types) ||
      parser.resolveOperand(pred, parser.getBuilder().getI1Type(),
                            result.operands))
    return failure();
  result.addTypes(types);
  return success();
}

void MaskOp::print(OpAsmPrinter &printer) {
  printer << " " << getPred();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false);
  if (getNumResults() != 0)
    printer << " : " << getResultTypes();
}

LogicalResult MaskOp::verify() {
  auto ret = dyn_cast<MaskReturnOp>(getRegion().front().getTerminator());
  if (!ret)
    return emitOpError()
           << "expected the region to end in 'ttg.mask.return', found '"
           << getRegion().front().getTerminator()->getName() << "'";
  if (ret.getOperandTypes() != getResultTypes())
    return emitOpError() << "expected results of types ("
                         << ret.getOperandTypes()
                         << "), which 'ttg.mask.return' gives, found ("
                         << getResultTypes() << ")";
  return success();
}

void MaskOp::getSuccessorRegions(RegionBranchPoint point,
                                 SmallVectorImpl<RegionSuccessor> &successors) {
  if (point.isParent())
    successors.emplace_back(&getRegion());
  else
    successors.emplace_back(getOperation(), getResults());
}
