//===-- TritonToTritonGPU.cpp - Give every tensor a layout ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The default layout of a tensor depends on its shape alone, so operations on
// tensors of one shape agree without further ado, control flow and calls
// included. That allows for changing all types in place first, and for looking
// only then at the few operations that relate tensors of different shapes.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Interfaces.h"
#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-triton-to-tritongpu"

namespace mlir::triton {
#define GEN_PASS_DEF_CONVERTTRITONTOTRITONGPU
#include "tile/Conversion/TritonToTritonGPU/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct ConvertTritonToTritonGPU
    : triton::impl::ConvertTritonToTritonGPUBase<ConvertTritonToTritonGPU> {
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult describeMachine(ModuleOp module);
  /// Whether this pass knows what `op` asks of layouts.
  LogicalResult checkSupported(Operation *op);

  Type withDefaultLayout(Type type);
  Attribute getDefaultLayout(ArrayRef<int64_t> shape);
  void assignDefaultLayouts(Operation *op);

  LogicalResult legalize(Operation *op);
  LogicalResult legalizeDot(DotOp op);
  /// Makes one side of an operation follow the other.
  LogicalResult relateLayouts(LayoutInferenceOpInterface op);

  void convertOperand(OpOperand &operand, Attribute layout);
  /// Gives `result` the layout that its operation yields, and its users what
  /// they had before.
  void convertResult(OpResult result, Attribute layout);

  /// Of the option, or as the target has them.
  int warpSize = 0;
};

Attribute layoutOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getEncoding();
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

LogicalResult ConvertTritonToTritonGPU::describeMachine(ModuleOp module) {
  warpSize = threadsPerWarp;
  if (warpSize == 0)
    warpSize = getTargetModel(&getContext(), target).getThreadsPerWarp();
  for (auto [name, value] : {std::pair<StringRef, int>("num-warps", numWarps),
                             {"threads-per-warp", warpSize},
                             {"num-ctas", numCTAs}})
    if (value <= 0 || !llvm::isPowerOf2_32(value))
      return emitError(module.getLoc(), "expected option '")
             << name << "' to be a positive power of two, found " << value;
  if (target.empty())
    return emitError(
        module.getLoc(),
        "expected option 'target' to name a machine, <kind>:<architecture>");

  // Whoever has divided the rows knows how many warps are for those that stay.
  if (auto warps = module->getAttrOfType<IntegerAttr>(kGroupWarpsAttrName)) {
    numWarps = warps.getInt();
    module->removeAttr(kGroupWarpsAttrName);
  }
  Builder b(&getContext());
  for (auto [name, value] :
       {std::pair<StringRef, Attribute>(kNumCTAsAttrName,
                                        b.getI32IntegerAttr(numCTAs)),
        {kNumWarpsAttrName, b.getI32IntegerAttr(numWarps)},
        {kTargetAttrName, b.getStringAttr(target)},
        {kThreadsPerWarpAttrName, b.getI32IntegerAttr(warpSize)}}) {
    Attribute present = module->getAttr(name);
    if (present && present != value)
      return emitError(module.getLoc(), "'")
             << name << "' is already " << present << ", not " << value;
    module->setAttr(name, value);
  }
  return success();
}

LogicalResult ConvertTritonToTritonGPU::checkSupported(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  for (Type type : types) {
    if (isBlockPointer(type))
      return op->emitOpError("uses a block pointer; these are rewritten by "
                             "'triton-rewrite-tensor-pointer', which must run "
                             "before layouts are chosen");
    if (isa<UnrankedTensorType>(type) ||
        (isTensor(type) && !cast<TensorType>(type).hasStaticShape()))
      return op->emitOpError("expected tensors of static shape, found ")
             << type;
    if (isTensor(type) && cast<TensorType>(type).getRank() == 0)
      return op->emitOpError("expected tensors of one dimension or more, for "
                             "others have no layout; found ")
             << type;
  }
  StringRef dialect = op->getName().getDialectNamespace();
  bool known = llvm::is_contained(
      {"builtin", "tt", "ttg", "arith", "math", "scf", "cf", "ub"}, dialect);
  // Operations of backends say that their layouts are theirs to check.
  known |= op->hasTrait<triton::OpTrait::VerifyTensorLayoutsTrait>();
  if (!known && !op->hasTrait<mlir::OpTrait::Elementwise>() &&
      (llvm::any_of(op->getOperandTypes(), isTensor) ||
       llvm::any_of(op->getResultTypes(), isTensor)))
    return op->emitOpError("works on tensors in a way for which no rule of "
                           "layouts is known");
  return success();
}

//===----------------------------------------------------------------------===//
// Default layouts
//===----------------------------------------------------------------------===//

Attribute ConvertTritonToTritonGPU::getDefaultLayout(ArrayRef<int64_t> shape) {
  return getDefaultBlockedEncoding(&getContext(), shape, numWarps, warpSize,
                                   numCTAs);
}

Type ConvertTritonToTritonGPU::withDefaultLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return type;
  ++numLayouts;
  return cloneWithEncoding(tensor, getDefaultLayout(tensor.getShape()));
}

void ConvertTritonToTritonGPU::assignDefaultLayouts(Operation *op) {
  for (Value result : op->getResults())
    result.setType(withDefaultLayout(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument arg : block.getArguments())
        arg.setType(withDefaultLayout(arg.getType()));

  // What else spells out types.
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (value && type)
      constant.setValueAttr(value.reshape(type));
  }
  if (auto func = dyn_cast<FunctionOpInterface>(op)) {
    auto convertAll = [&](ArrayRef<Type> types) {
      return llvm::map_to_vector(
          types, [&](Type type) { return withDefaultLayout(type); });
    };
    func.setType(FunctionType::get(&getContext(),
                                   convertAll(func.getArgumentTypes()),
                                   convertAll(func.getResultTypes())));
  }
}

//===----------------------------------------------------------------------===//
// Operations that relate layouts
//===----------------------------------------------------------------------===//

void ConvertTritonToTritonGPU::convertOperand(OpOperand &operand,
                                              Attribute layout) {
  Value value = operand.get();
  if (layoutOf(value) == layout)
    return;
  OpBuilder b(operand.getOwner());
  auto type =
      cloneWithEncoding(cast<RankedTensorType>(value.getType()), layout);
  operand.set(
      ConvertLayoutOp::create(b, operand.getOwner()->getLoc(), type, value));
  ++numConversions;
}

void ConvertTritonToTritonGPU::convertResult(OpResult result,
                                             Attribute layout) {
  auto before = cast<RankedTensorType>(result.getType());
  if (before.getEncoding() == layout)
    return;
  result.setType(cloneWithEncoding(before, layout));
  OpBuilder b(&getContext());
  b.setInsertionPointAfter(result.getOwner());
  auto convert =
      ConvertLayoutOp::create(b, result.getOwner()->getLoc(), before, result);
  result.replaceAllUsesExcept(convert, convert);
  ++numConversions;
}

LogicalResult ConvertTritonToTritonGPU::legalizeDot(DotOp op) {
  // A square of elements per thread reuses each operand element as often as
  // the registers allow for.
  ArrayRef<int64_t> shape = shapeOf(op.getD());
  unsigned rank = shape.size();
  int64_t perThread =
      llvm::product_of(shape) / (int64_t(numWarps) * warpSize * numCTAs);
  unsigned side = perThread >= 16 ? 4 : perThread >= 4 ? 2 : 1;
  SmallVector<unsigned> size(rank, 1);
  size[rank - 1] = std::min<int64_t>(side, shape[rank - 1]);
  size[rank - 2] = std::min<int64_t>(side, shape[rank - 2]);
  SmallVector<unsigned> order(llvm::reverse(llvm::seq<unsigned>(0, rank)));
  Attribute layout = BlockedEncodingAttr::get(&getContext(), shape, size, order,
                                              numWarps, warpSize, numCTAs);
  for (auto [index, operand] :
       {std::pair<unsigned, OpOperand *>(0, &op.getAMutable()),
        {1, &op.getBMutable()}}) {
    Type element = getElementTypeOrSelf(operand->get().getType());
    convertOperand(*operand, DotOperandEncodingAttr::get(&getContext(), index,
                                                         layout, element));
  }
  convertOperand(op.getCMutable(), layout);
  convertResult(cast<OpResult>(op.getD()), layout);
  return success();
}

LogicalResult
ConvertTritonToTritonGPU::relateLayouts(LayoutInferenceOpInterface op) {
  auto isTensor = [](Value value) {
    return isa<RankedTensorType>(value.getType());
  };
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()) && !op.acceptsAnyLayout(operand))
      operands.push_back(&operand);
  SmallVector<OpResult> results;
  llvm::copy_if(op->getResults(), std::back_inserter(results), isTensor);
  if (operands.empty() || results.empty() ||
      op.getLayoutRole() == LayoutRole::Neutral)
    return success();

  if (op.keepsDefaultResultLayout()) {
    FailureOr<Attribute> layout = op.inferOperandLayout(
        results.front(), layoutOf(results.front()), op->getLoc());
    if (failed(layout))
      return failure();
    for (OpOperand *operand : operands)
      convertOperand(*operand, *layout);
    return success();
  }
  // Of several, all have the same; of a gather, the last decides.
  Attribute source = layoutOf(operands.back()->get());
  for (OpResult result : results) {
    FailureOr<Attribute> layout =
        op.inferResultLayout(result, source, op->getLoc());
    if (failed(layout))
      return failure();
    // The default layout of the new shape may be just another name.
    if (!areLayoutsEquivalent(shapeOf(result), *layout, layoutOf(result)))
      convertResult(result, *layout);
  }
  return success();
}

LogicalResult ConvertTritonToTritonGPU::legalize(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op))
    return legalizeDot(dot);
  // Which element lands where is left to whoever lowers it.
  if (auto reshape = dyn_cast<ReshapeOp>(op);
      reshape && reshape.getAllowReorder())
    return success();
  if (auto rules = dyn_cast<LayoutInferenceOpInterface>(op))
    return relateLayouts(rules);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void ConvertTritonToTritonGPU::runOnOperation() {
  ModuleOp module = getOperation();
  WalkResult supported = module.walk([&](Operation *op) {
    return failed(checkSupported(op)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
  });
  if (supported.wasInterrupted() || failed(describeMachine(module)))
    return signalPassFailure();

  module.walk([&](Operation *op) { assignDefaultLayouts(op); });

  // Collected first, as conversions are inserted on the way.
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<TritonDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(legalize(op)))
      return signalPassFailure();
  LDBG() << "gave all tensors a layout";
}

} // namespace
