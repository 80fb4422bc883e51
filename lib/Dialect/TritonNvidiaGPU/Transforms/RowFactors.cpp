//===-- RowFactors.cpp - Sums whose rows are multiplied -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowFactors.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

Value mlir::triton::nvidia_gpu::getRowFactors(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (isa<gpu::ConvertLayoutOp, BroadcastOp>(def)) {
      value = def->getOperand(0);
      continue;
    }
    auto expand = dyn_cast<ExpandDimsOp>(def);
    return expand && expand.getAxis() == 1 ? expand.getSrc() : Value();
  }
  return {};
}

RowScaling mlir::triton::nvidia_gpu::getRowScaling(TMEMStoreOp store) {
  auto product = store.getSrc().getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse() || store.getDep())
    return {};
  RowScaling scaling{{}, product, store, {}};
  for (unsigned i : {0u, 1u}) {
    auto load = product->getOperand(i).getDefiningOp<TMEMLoadOp>();
    if (!load || load.getSrc() != store.getDst())
      continue;
    scaling.load = load;
    scaling.factors = getRowFactors(product->getOperand(1 - i));
  }
  TMEMLoadOp load = scaling.load;
  if (!load || load->getNumResults() != 1 || !load.getResult().hasOneUse() ||
      load.getDep())
    return {};
  return scaling;
}

bool mlir::triton::nvidia_gpu::isPlainSum(gpu::MemDescType type) {
  auto encoding = dyn_cast<TensorMemoryEncodingAttr>(type.getEncoding());
  return encoding && type.getRank() == 2 && type.getShape()[0] == kGroupRows &&
         encoding.getBlockM() == kGroupRows && encoding.getColStride() == 1 &&
         !encoding.getTwoCTAs() && type.getElementType().isF32();
}

void mlir::triton::nvidia_gpu::scaleRows(
    OpBuilder &b, Location loc, Value sum, Value predicate, int64_t most,
    function_ref<Value(RankedTensorType)> getFactors) {
  auto whole = cast<gpu::MemDescType>(sum.getType());
  int64_t columns = whole.getShape()[1], size = std::min(columns, most);
  auto part = gpu::MemDescType::get(
      {kGroupRows, size}, whole.getElementType(), whole.getEncoding(),
      whole.getMemorySpace(), whole.getMutableMemory(), whole.getAllocShape());
  auto layout = getTensorMemoryRegisters(part, kGroupWarps);
  auto type =
      RankedTensorType::get(part.getShape(), part.getElementType(), layout);
  auto slice = gpu::SliceEncodingAttr::get(b.getContext(), /*dim=*/1, layout);
  Value rows = getFactors(
      RankedTensorType::get({kGroupRows}, part.getElementType(), slice));
  Value column = ExpandDimsOp::create(b, loc, rows, /*axis=*/1);
  Value factors = BroadcastOp::create(b, loc, type, column);
  for (int64_t start = 0; start < columns; start += size) {
    Value buffer = size == columns
                       ? sum
                       : TMEMSubsliceOp::create(b, loc, part, sum, start, 1);
    Value product = arith::MulFOp::create(
        b, loc, TMEMLoadOp::create(b, loc, type, buffer).getResult(), factors);
    TMEMStoreOp::create(b, loc, buffer, product, predicate);
  }
}
