//===-- OrderOfReads.cpp - Bytes read across the inner dimension ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OrderOfReads.h"

#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using nvidia::OrderOfReads;

Value nvidia::skipConversions(Value operand) {
  while (auto convert = operand.getDefiningOp<ConvertLayoutOp>())
    operand = convert.getSrc();
  return operand;
}

TransOp nvidia::transpose(OpBuilder &b, Location loc, Value matrix) {
  return TransOp::create(b, loc, matrix, ArrayRef<int32_t>{1, 0});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

MemDescType nvidia::getProductMemory(RankedTensorType type,
                                     ArrayRef<unsigned> order, bool fp4Padded) {
  MLIRContext *context = type.getContext();
  auto encoding = NVMMASharedEncodingAttr::get(
      context, type.getShape(), order, getCTALayout(type.getEncoding()),
      type.getElementType(), fp4Padded);
  return MemDescType::get(type.getShape(), type.getElementType(), encoding,
                          SharedMemorySpaceAttr::get(context));
}

/// The memory that whole warps read bytes of a matrix from, transposed: chunks
/// of 16 bytes change places so that those of eight rows are in different
/// banks.
static MemDescType getByteMemory(RankedTensorType type) {
  constexpr int64_t chunkBytes = 16, bankBytes = 128;
  MLIRContext *context = type.getContext();
  SmallVector<unsigned> order = getOrder(type);
  int64_t row = getShapePerCTA(type)[order.front()];
  auto encoding = SwizzledSharedEncodingAttr::get(
      context, chunkBytes, std::max<int64_t>(bankBytes / row, 1),
      std::clamp<int64_t>(row / chunkBytes, 1, bankBytes / chunkBytes), order,
      getCTALayout(type.getEncoding()));
  return MemDescType::get(type.getShape(), type.getElementType(), encoding,
                          SharedMemorySpaceAttr::get(context));
}

/// `shape` with the dimension of `order` split into three. The last two of them
/// are `outer` and what is left of a group of rows. Transposing the two changes
/// between the order of reads and the order of the matrix.
static SmallVector<int64_t>
splitShape(ArrayRef<int64_t> shape, const OrderOfReads &order, int64_t outer) {
  int64_t group = 2 * order.distance;
  SmallVector<int64_t> split(shape);
  split[order.dim] /= group;
  int64_t parts[] = {outer, group / outer};
  split.insert(split.begin() + order.dim + 1, std::begin(parts),
               std::end(parts));
  return split;
}

static SmallVector<int32_t> swapParts(unsigned rank,
                                      const OrderOfReads &order) {
  auto swapped = llvm::to_vector(llvm::seq<int32_t>(0, rank + 2));
  std::swap(swapped[order.dim + 1], swapped[order.dim + 2]);
  return swapped;
}

static Value reorder(OpBuilder &b, Location loc, Value matrix,
                     const OrderOfReads &order, bool back) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(matrix.getType()).getShape();
  Value split = ReshapeOp::create(
      b, loc, splitShape(shape, order, back ? 2 : order.distance), matrix);
  Value swapped =
      TransOp::create(b, loc, split, swapParts(shape.size(), order));
  return ReshapeOp::create(b, loc, shape, swapped);
}

/// A view of a matrix in shared memory in the order of reads.
static Value viewInOrderOfReads(OpBuilder &b, Location loc, Value matrix,
                                const OrderOfReads &order) {
  SmallVector<int64_t> shape(cast<MemDescType>(matrix.getType()).getShape());
  auto reshape = [&](Value view, ArrayRef<int64_t> to) -> Value {
    MemDescType type = *MemDescReshapeOp::inferResultType(
        cast<MemDescType>(view.getType()), to, loc);
    return MemDescReshapeOp::create(b, loc, type, view);
  };
  Value split = reshape(matrix, splitShape(shape, order, order.distance));
  return reshape(
      MemDescTransOp::create(b, loc, split, swapParts(shape.size(), order)),
      shape);
}

Value nvidia::readBytes(OpBuilder &b, Location loc, Value operand,
                        bool isTransposed, const OrderOfReads &reads,
                        DotOperandEncodingAttr layout) {
  SmallVector<int32_t> order = {0, 1};
  if (isTransposed)
    std::swap(order[0], order[1]);
  if (auto trans = operand.getDefiningOp<TransOp>()) {
    operand = skipConversions(trans.getSrc());
    order = {trans.getOrder()[order[0]], trans.getOrder()[order[1]]};
  }
  auto type = cast<RankedTensorType>(operand.getType());
  MemDescType memory = operand.getDefiningOp<DescriptorLoadOp>()
                           ? getProductMemory(type, getOrder(type))
                           : getByteMemory(type);
  Value view = LocalAllocOp::create(b, loc, memory, operand);
  if (order[0] == 1)
    view = MemDescTransOp::create(b, loc, view, order);
  view = viewInOrderOfReads(b, loc, view, reads);
  auto result =
      RankedTensorType::get(cast<MemDescType>(view.getType()).getShape(),
                            type.getElementType(), layout);
  return LocalLoadOp::create(b, loc, result, view);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value nvidia::SumForm::turn(OpBuilder &b, Location loc, Value sum) const {
  if (isTransposed)
    sum = transpose(b, loc, sum);
  for (const OrderOfReads &order : orders)
    sum = reorder(b, loc, sum, order, /*back=*/false);
  return sum;
}

Value nvidia::SumForm::turnBack(OpBuilder &b, Location loc, Value sum,
                                RankedTensorType type) const {
  for (const OrderOfReads &order : llvm::reverse(orders))
    sum = reorder(b, loc, sum, order, /*back=*/true);
  if (isTransposed)
    sum = transpose(b, loc, sum);
  return sum.getType() == type ? sum
                               : convertTo(b, loc, sum, type.getEncoding());
}

/// The loop that carries `into` and hands on `sum` in its place, nobody else
/// having a use for either.
static scf::ForOp findLoopOfSum(Value into, Value sum) {
  auto carried = dyn_cast<BlockArgument>(into);
  auto loop = carried ? dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp())
                      : nullptr;
  if (!loop || carried == loop.getInductionVar() || !carried.hasOneUse() ||
      !sum.hasOneUse())
    return {};
  OpOperand *yielded = loop.getTiedLoopYieldedValue(carried);
  return &*sum.use_begin() == yielded ? loop : scf::ForOp();
}

/// The result of a dot, or the one conversion that all goes through.
static Value getSum(DotOp op) {
  Value sum = op.getD();
  auto convert =
      sum.hasOneUse() ? dyn_cast<ConvertLayoutOp>(*sum.user_begin()) : nullptr;
  return convert ? convert.getResult() : sum;
}

bool nvidia::isCarriedSum(DotOp op) {
  return bool(findLoopOfSum(skipConversions(op.getC()), getSum(op)));
}

static void eraseUnused(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isOpTriviallyDead(def))
      return;
    value = def->getNumOperands() ? def->getOperand(0) : Value();
    def->erase();
    if (!value)
      return;
  }
}

/// Has a loop carry a sum in another form, if `into` is what it carries and
/// `back` what it hands on, so that nothing in it is turned. `turned` and
/// `result` are the sum before and behind the dot.
static void carryInForm(const nvidia::SumForm &form, Value into, Value turned,
                        Value result, Value back) {
  scf::ForOp loop = findLoopOfSum(into, back);
  if (!loop)
    return;
  auto carried = cast<BlockArgument>(into);
  unsigned index = carried.getArgNumber() - loop.getNumInductionVars();
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  Value init = form.turn(rewriter, loc, loop.getInitArgs()[index]);
  back.use_begin()->set(carried);
  auto yieldSum = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    return SmallVector<Value>{result};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false, yieldSum));
  turned.replaceAllUsesWith(loop.getRegionIterArgs().back());
  eraseUnused(turned);
  eraseUnused(back);
  rewriter.setInsertionPointAfter(loop);
  Value old = loop.getResult(index);
  old.replaceAllUsesWith(form.turnBack(rewriter, loc, loop.getResults().back(),
                                       cast<RankedTensorType>(old.getType())));
}

void nvidia::multiplyInForm(OpBuilder &b, DotOp op, const SumForm &form,
                            Attribute layout,
                            function_ref<Value(Value)> multiply) {
  Location loc = op.getLoc();
  // Conversions stay where they are, unless they are of a form that goes away:
  // the dot would be waited for where they are made.
  bool isSame = form.isSame();
  Value into = isSame ? op.getC() : skipConversions(op.getC());
  Value old = isSame ? op.getD() : getSum(op);
  Value turned = form.turn(b, loc, into);
  Value product = multiply(convertTo(b, loc, turned, layout));
  Value result = convertTo(b, loc, product, getLayout(turned));
  Value back =
      form.turnBack(b, loc, result, cast<RankedTensorType>(old.getType()));
  old.replaceAllUsesWith(back);
  if (old != op.getD())
    old.getDefiningOp()->erase();
  Value oldInto = op.getC();
  op.erase();
  eraseUnused(oldInto);
  if (!isSame)
    carryInForm(form, into, turned, result, back);
}
