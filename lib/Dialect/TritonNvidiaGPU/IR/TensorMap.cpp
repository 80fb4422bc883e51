//===-- TensorMap.cpp - How TMA sees blocks in shared memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

SmallVector<int64_t>
mlir::triton::nvidia_gpu::getTMABoxShape(RankedTensorType block) {
  constexpr int64_t kMaxBoxDim = 256;
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  SmallVector<int64_t> box = gpu::getShapePerCTA(encoding, block.getShape());
  for (int64_t &size : box)
    size = std::min(size, kMaxBoxDim);
  // One dimension has no rows, and so no panels.
  unsigned bytes = encoding.getSwizzlingByteWidth();
  if (!bytes && box.size() > 1)
    bytes = 16;
  if (bytes)
    box.back() = std::min<int64_t>(box.back(),
                                   bytes * 8 / block.getElementTypeBitWidth());
  return box;
}

FailureOr<int32_t> mlir::triton::nvidia_gpu::getTMAElementType(Type type) {
  if (type.isF16())
    return 6;
  if (type.isF32())
    return 7;
  if (type.isF64())
    return 9;
  if (type.isBF16())
    return 10;
  if (!type.isIntOrFloat())
    return failure();
  // The rest are bits: there is no signed 8-bit or 16-bit type, nor 8-bit
  // floats.
  switch (type.getIntOrFloatBitWidth()) {
  case 8:
    return 0;
  case 16:
    return 1;
  case 32:
    return type.isUnsignedInteger() ? 2 : 3;
  case 64:
    return type.isUnsignedInteger() ? 4 : 5;
  default:
    return failure();
  }
}

FailureOr<int32_t>
mlir::triton::nvidia_gpu::getTMASwizzleMode(unsigned swizzlingByteWidth) {
  switch (swizzlingByteWidth) {
  case 0:
    return 0;
  case 32:
    return 1;
  case 64:
    return 2;
  case 128:
    return 3;
  default:
    return failure();
  }
}

FailureOr<gpu::NVMMASharedEncodingAttr>
mlir::triton::nvidia_gpu::getTMAEncoding(
    TensorDescType desc, function_ref<InFlightDiagnostic()> emitError) {
  RankedTensorType block = desc.getBlockType();
  auto encoding =
      dyn_cast_or_null<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  if (!encoding)
    return emitError()
           << "expected a descriptor of blocks with an nvmma_shared "
              "encoding, found "
           << desc;
  if (encoding.getTransposed())
    return emitError()
           << "expected a descriptor of blocks that lie in shared memory "
              "as in global memory, found transposed ones: "
           << desc;
  if (encoding.getFp4Padded())
    return emitError() << "expected a descriptor of blocks without padded "
                          "4-bit elements, which "
                          "are not supported yet, found "
                       << desc;
  return encoding;
}
