//===-- TensorMemoryProducts.cpp - Matrix products by tcgen05 -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// tcgen05.mma multiplies 128 rows by up to 256 columns. One thread starts it.
// It reads both operands from shared memory, and adds to a sum in tensor
// memory. A dot that does not fill the 128 rows stays with mma.sync.
//
// Each dot gets a buffer of tensor memory of its own here:
//
//   store the old sum; multiply; load the new sum
//
// Where a loop only adds to a sum, tritongpu-hoist-tmem-alloc takes the store
// and the load out of it.
//
//===----------------------------------------------------------------------===//

#include "TensorMemoryProducts.h"

#include "OrderOfReads.h"
#include "ProductMemory.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-accelerate-matmul"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia;
using nvidia_gpu::TensorMemoryEncodingAttr;
using nvidia_gpu::TensorMemorySpaceAttr;

namespace {

/// The most columns that one instruction computes.
constexpr int64_t kMaxColumns = 256;

/// The buffer of a sum.
MemDescType getSumMemory(RankedTensorType type, unsigned rows) {
  MLIRContext *context = type.getContext();
  ArrayRef<int64_t> shape = type.getShape();
  auto encoding = TensorMemoryEncodingAttr::get(
      context, /*blockM=*/rows,
      /*blockN=*/std::min(shape[1], kMaxColumns), /*colStride=*/1,
      /*CTASplitM=*/1, /*CTASplitN=*/1, /*twoCTAs=*/false);
  return MemDescType::get(shape, type.getElementType(), encoding,
                          TensorMemorySpaceAttr::get(context),
                          /*mutableMemory=*/true);
}

/// The layout in which threads load and store a sum. A warp reaches the rows of
/// its window, and a thread has one row of them. More than four warps share
/// the columns.
LinearEncodingAttr getSumLayout(RankedTensorType type, int64_t rows,
                                unsigned numWarps) {
  constexpr int32_t kWindow = 32;
  ArrayRef<int64_t> shape = type.getShape();
  auto steps = [](unsigned dim, int64_t from, int64_t to) {
    LinearLayout::DimBases bases;
    for (int64_t step = from; step < to; step *= 2) {
      std::vector<int32_t> basis(2, 0);
      basis[dim] = step;
      bases.push_back(std::move(basis));
    }
    return bases;
  };
  LinearLayout::DimBases registers = steps(1, 1, shape[1]),
                         lanes = steps(0, 1, kWindow),
                         warps = steps(0, kWindow, rows);
  llvm::append_range(registers, steps(0, rows, shape[0]));
  for (unsigned count = 4; count < numWarps; count *= 2) {
    // The last registers: whole blocks of rows, then halves of the columns.
    warps.push_back(registers.back());
    registers.pop_back();
  }
  LinearLayout::Bases bases;
  bases.emplace_back(kRegister, registers);
  bases.emplace_back(kLane, lanes);
  bases.emplace_back(kWarp, warps);
  bases.emplace_back(kBlock, LinearLayout::DimBases());
  LinearLayout known = toLinearLayout(type);
  auto dims = llvm::to_vector(known.getOutDimNames());
  LinearLayout layout(
      bases, {{dims[0], int32_t(shape[0])}, {dims[1], int32_t(shape[1])}},
      /*requireSurjective=*/true);
  return LinearEncodingAttr::get(type.getContext(), layout);
}

/// The columns that the buffers of the function around `op` take together.
unsigned countColumns(Operation *op) {
  unsigned columns = 0;
  op->getParentOfType<FunctionOpInterface>()->walk(
      [&](nvidia_gpu::TMEMAllocOp alloc) {
        auto footprint =
            nvidia_gpu::getTensorMemoryFootprint(alloc.getResult().getType());
        if (succeeded(footprint))
          columns += footprint->columns;
      });
  return columns;
}

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// Why the instruction does not take the dot; empty if it does.
StringRef findObstacle(DotOp op, const MatrixProduct &product,
                       const MatrixInstruction &instruction) {
  RankedTensorType type = op.getType();
  if (type.getRank() != 2)
    return "it is a batch";
  if (getCTALayout(type.getEncoding()).getNumCTAs() != 1)
    return "several blocks of a cluster compute it";
  if (product.numWarps % int(instruction.numWarps) != 0)
    return "the kernel has fewer than four warps";
  if (product.getM() < instruction.m)
    return "it has fewer than 128 rows";
  if (product.getN() < instruction.n)
    return "it has fewer than 16 columns";
  if (product.k < instruction.k)
    return "its rows are shorter than 32 bytes";
  // Warps beyond the first four share what a thread has of a row.
  if (int64_t(product.numWarps) * instruction.m * 4 >
      int64_t(instruction.numWarps) * product.getM() * product.getN())
    return "there are more warps than it has columns for";
  auto footprint =
      nvidia_gpu::getTensorMemoryFootprint(getSumMemory(type, instruction.m));
  if (failed(footprint) ||
      footprint->columns + countColumns(op) > nvidia_gpu::kTensorMemoryColumns)
    return "the sums of the kernel would take more than 512 columns of tensor "
           "memory";
  return "";
}

} // namespace

bool mlir::triton::nvidia::multiplyInTensorMemory(
    DotOp op, const MatrixProduct &product,
    const MatrixInstruction &instruction) {
  if (StringRef why = findObstacle(op, product, instruction); !why.empty()) {
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("product-in-registers").category(DEBUG_TYPE))
        << StringRef(("it takes mma.sync and not the unit that adds in tensor "
                      "memory: " +
                      why)
                         .str());
    return false;
  }
  RankedTensorType before = op.getType();
  LinearEncodingAttr layout =
      getSumLayout(before, instruction.m, product.numWarps);
  LDBG() << op << " gets tensor memory, and " << layout;

  OpBuilder b(op);
  Location loc = op.getLoc();
  // Words have to follow one another along K.
  bool hasChoice = op.getA().getType().getElementTypeBitWidth() <= 16;
  Value left = putIntoSharedMemory(b, op, op.getA(), /*innerDim=*/1, hasChoice);
  Value right =
      putIntoSharedMemory(b, op, op.getB(), /*innerDim=*/0, hasChoice);

  Value old = skipConversions(op.getC());
  bool overwrites = isZero(old);
  Value start = overwrites ? Value() : convertTo(b, loc, op.getC(), layout);
  Value sum =
      nvidia_gpu::TMEMAllocOp::create(
          b, loc, getSumMemory(before, instruction.m), /*token=*/Type(), start)
          .getResult();
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
  Value adds = overwrites ? arith::ConstantIntOp::create(b, loc, 0, 1) : yes;
  nvidia_gpu::TCGen5MMAOp::create(b, loc, /*token=*/Type(), left, right, sum,
                                  /*accDep=*/Value(), adds, yes);
  Value result = nvidia_gpu::TMEMLoadOp::create(
                     b, loc, cloneWithEncoding(before, layout), sum)
                     .getResult();
  op.replaceAllUsesWith(convertTo(b, loc, result, before.getEncoding()));
  op.erase();
  return true;
}
