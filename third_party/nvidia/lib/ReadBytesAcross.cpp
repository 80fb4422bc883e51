//===-- ReadBytesAcross.cpp - read-bytes-across-nv ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What OrderOfReads.h says, for mma.sync, whose operands are read from shared
// memory byte by byte otherwise. It is worth it where the sum can stay in
// another order until a loop ends: put back in each iteration, it would go
// from lane to lane there.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "OrderOfReads.h"
#include "nvidia/TargetModel.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "read-bytes-across-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_READBYTESACROSSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia;

namespace {

/// Bytes that memory has across K, and what makes an operand of them.
struct Bytes {
  Value source;
  /// Operations on each element by itself, the last one first.
  SmallVector<Operation *> conversions;
  OrderOfReads order;
};

/// How far apart the columns of two neighbouring instructions are that a
/// thread has operands for; none if there is only one.
std::optional<int64_t> getDistance(RankedTensorType operand, unsigned dim) {
  constexpr int32_t inInstruction = 8;
  LinearLayout layout = toLinearLayout(operand);
  std::optional<int64_t> distance;
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i) {
    int32_t step = layout.getBasis(kRegister, i, kDim(dim));
    if (step >= inInstruction && (!distance || step < *distance))
      distance = step;
  }
  return distance;
}

bool isUnaryElementwise(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() && isPure(op) &&
         op->getNumOperands() == 1 && op->getNumResults() == 1;
}

std::optional<Bytes> findBytesAcross(DotOp op, OpOperand &operand) {
  unsigned outerDim = operand.getOperandNumber();
  Bytes bytes;
  Value source = skipConversions(operand.get());
  while (Operation *def = source.getDefiningOp()) {
    if (!isUnaryElementwise(def))
      break;
    bytes.conversions.push_back(def);
    source = skipConversions(def->getOperand(0));
  }
  auto type = cast<RankedTensorType>(source.getType());
  if (!type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() != 8 || getOrder(type).front() != outerDim)
    return std::nullopt;
  // What is computed is in registers already.
  Value loaded = source;
  if (auto trans = source.getDefiningOp<TransOp>())
    loaded = skipConversions(trans.getSrc());
  Operation *load = loaded.getDefiningOp();
  if (!isa_and_nonnull<LoadOp, DescriptorLoadOp>(load) ||
      load->getBlock() != op->getBlock())
    return std::nullopt;
  std::optional<int64_t> distance =
      getDistance(cast<RankedTensorType>(operand.get().getType()), outerDim);
  if (!distance)
    return std::nullopt;
  bytes.source = source;
  bytes.order = {outerDim, *distance};
  return bytes;
}

/// The operand in the layout that it had, in the order of reads.
Value read(OpBuilder &b, Location loc, const Bytes &bytes, Attribute layout) {
  Value value = readBytes(b, loc, bytes.source, /*isTransposed=*/false,
                          bytes.order, cast<DotOperandEncodingAttr>(layout));
  for (Operation *conversion : llvm::reverse(bytes.conversions)) {
    Operation *done = b.clone(*conversion);
    done->setOperand(0, value);
    auto type = cast<RankedTensorType>(done->getResult(0).getType());
    done->getResult(0).setType(type.cloneWithEncoding(layout));
    value = done->getResult(0);
  }
  return value;
}

/// Whether nothing has to bring the sum back from its other order in a loop.
bool mayReorderSum(DotOp op) {
  if (isCarriedSum(op))
    return true;
  return !op->getParentOfType<LoopLikeOpInterface>() &&
         matchPattern(skipConversions(op.getC()), m_Constant());
}

bool readBytesAcross(DotOp op) {
  auto mma = dyn_cast<NvidiaMmaEncodingAttr>(op.getType().getEncoding());
  if (!mma || mma.getVersionMajor() != kMmaSync ||
      op.getType().getRank() != 2 || getCTALayout(mma).getNumCTAs() > 1)
    return false;
  std::optional<Bytes> found[] = {findBytesAcross(op, op.getAMutable()),
                                  findBytesAcross(op, op.getBMutable())};
  if (!found[0] && !found[1])
    return false;
  if (!mayReorderSum(op)) {
    LDBG() << op << " reads byte by byte: its sum is used in its own order";
    return false;
  }
  OpBuilder b(op);
  SumForm form;
  Value operands[] = {op.getA(), op.getB()};
  for (auto [operand, bytes] : llvm::zip_equal(operands, found)) {
    if (!bytes)
      continue;
    form.orders.push_back(bytes->order);
    operand = read(b, op.getLoc(), *bytes,
                   cast<RankedTensorType>(operand.getType()).getEncoding());
  }
  LDBG() << op << " reads matrices of bytes for its "
         << (found[0] ? "left" : "") << (found[0] && found[1] ? " and " : "")
         << (found[1] ? "right" : "") << " operand";
  multiplyInForm(b, op, form, mma, [&](Value sum) -> Value {
    auto product = cast<DotOp>(b.clone(*op));
    product.getAMutable().set(operands[0]);
    product.getBMutable().set(operands[1]);
    product.getCMutable().set(sum);
    return product;
  });
  return true;
}

struct ReadBytesAcross : nvidia::impl::ReadBytesAcrossNVBase<ReadBytesAcross> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<DotOp> products;
    getOperation().walk([&](DotOp op) { products.push_back(op); });
    for (DotOp op : products)
      numProducts += readBytesAcross(op);
  }
};

} // namespace
