//===-- TensorMemory.cpp - What buffers in tensor memory take -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

bool mlir::triton::nvidia_gpu::isInTensorMemory(gpu::MemDescType type) {
  return isa_and_nonnull<TensorMemorySpaceAttr>(type.getMemorySpace());
}

bool mlir::triton::nvidia_gpu::isInSharedMemory(gpu::MemDescType type) {
  return isa_and_nonnull<gpu::SharedMemorySpaceAttr>(type.getMemorySpace());
}

namespace {

/// A failure that says why only where somebody listens.
class Complaint {
public:
  explicit Complaint(function_ref<InFlightDiagnostic()> emitError) {
    if (emitError)
      diag.emplace(emitError());
  }
  template <typename T> Complaint &operator<<(T &&value) {
    if (diag)
      *diag << std::forward<T>(value);
    return *this;
  }
  operator FailureOr<TensorMemoryFootprint>() const { return failure(); }

private:
  std::optional<InFlightDiagnostic> diag;
};

} // namespace

static FailureOr<TensorMemoryFootprint>
getFootprint(ArrayRef<int64_t> shape, bool isPart, unsigned bitWidth,
             TensorMemoryEncodingAttr encoding,
             function_ref<InFlightDiagnostic()> emitError) {
  auto complain = [&] { return Complaint(emitError); };

  if (bitWidth * encoding.getColStride() > 32)
    return complain()
           << "expected elements to be at most a 32-bit column apart, found "
           << encoding.getColStride() << " times " << bitWidth << " bits";
  if (encoding.getFp4Padded() && bitWidth != 8)
    return complain() << "expected bytes of two 4-bit numbers with fp4Padded, "
                         "found elements of "
                      << bitWidth << " bits";
  int64_t m = shape[0], n = shape[1];
  if (m % encoding.getCTASplitM() || n % encoding.getCTASplitN())
    return complain() << "expected a matrix that " << encoding.getCTASplitM()
                      << "x" << encoding.getCTASplitN()
                      << " blocks of a cluster divide, found " << m << "x" << n;
  m /= encoding.getCTASplitM();
  n /= encoding.getCTASplitN();
  // A part of the columns may be less than a block. So may bytes of two numbers
  // that take a byte each.
  int64_t blockN = encoding.getBlockN();
  if (isPart || encoding.getFp4Padded())
    blockN = std::min(blockN, n);
  if (m % encoding.getBlockM() || n % blockN)
    return complain() << "expected a matrix of blocks of "
                      << encoding.getBlockM() << "x" << encoding.getBlockN()
                      << ", found " << m << "x" << n;

  bool halvesColumns = dividesColumnsByLanes(encoding);
  int64_t rows = m / encoding.getBlockM() * encoding.getBlockM();
  if (halvesColumns)
    rows *= 2;
  int64_t lanes = std::min<int64_t>(rows, kTensorMemoryLanes);
  int64_t laneGroups = llvm::divideCeil(rows, kTensorMemoryLanes);
  int64_t columnsPerBlock =
      llvm::divideCeil((halvesColumns ? blockN / 2 : blockN) * bitWidth *
                           getElementStride(encoding),
                       32);
  return TensorMemoryFootprint{
      unsigned(lanes), unsigned(laneGroups * (n / blockN) * columnsPerBlock)};
}

static FailureOr<TensorMemoryFootprint>
getFootprint(ArrayRef<int64_t> shape, unsigned bitWidth,
             TensorMemoryScalesEncodingAttr encoding,
             function_ref<InFlightDiagnostic()> emitError) {
  auto complain = [&] { return Complaint(emitError); };

  if (bitWidth != 8)
    return complain() << "expected scales of 8 bits, found " << bitWidth;
  int64_t rows = shape[0], scales = shape[1];
  if (rows % encoding.getCTASplitM() || scales % encoding.getCTASplitN())
    return complain() << "expected scales that " << encoding.getCTASplitM()
                      << "x" << encoding.getCTASplitN()
                      << " blocks of a cluster divide, found " << rows << "x"
                      << scales;
  // Tiles of 32 lanes and one column that holds four scales.
  int64_t columns = llvm::divideCeil(rows / encoding.getCTASplitM(), 32) *
                    llvm::divideCeil(scales / encoding.getCTASplitN(), 4);
  return TensorMemoryFootprint{kTensorMemoryLanes, unsigned(columns)};
}

FailureOr<TensorMemoryFootprint>
mlir::triton::nvidia_gpu::getTensorMemoryFootprint(
    gpu::MemDescType type, function_ref<InFlightDiagnostic()> emitError) {
  auto complain = [&] { return Complaint(emitError); };

  if (!isInTensorMemory(type))
    return complain() << "expected a buffer in tensor memory, found " << type;
  if (!type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() > 32)
    return complain()
           << "expected elements of at most 32 bits in tensor memory, found "
           << type.getElementType();
  if (type.getElementTypeBitWidth() < 8)
    return complain()
           << "expected elements of at least 8 bits in tensor memory, found "
           << type.getElementType();
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || shape.size() > 3)
    return complain() << "expected a matrix or an array of matrices in tensor "
                         "memory, found "
                      << type;

  unsigned bitWidth = type.getElementTypeBitWidth();
  FailureOr<TensorMemoryFootprint> result = failure();
  if (auto matrix = dyn_cast<TensorMemoryEncodingAttr>(type.getEncoding()))
    result = getFootprint(shape.take_back(2),
                          /*isPart=*/shape != type.getAllocShape(), bitWidth,
                          matrix, emitError);
  else if (auto scales =
               dyn_cast<TensorMemoryScalesEncodingAttr>(type.getEncoding()))
    result = getFootprint(shape.take_back(2), bitWidth, scales, emitError);
  else
    return complain() << "expected an encoding for tensor memory, found "
                      << type.getEncoding();
  if (failed(result))
    return failure();

  if (shape.size() == 3)
    result->columns *= shape.front();
  if (result->columns > kTensorMemoryColumns)
    return complain() << "expected a buffer of at most " << kTensorMemoryColumns
                      << " columns of tensor memory, found " << result->columns;
  return result;
}
