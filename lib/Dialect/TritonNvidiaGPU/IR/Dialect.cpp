//===-- Dialect.cpp - The ttnvgpu dialect and its attributes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/BlockTypeSyntax.h"
#include "tile/Dialect/Triton/IR/InlineAnywhere.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.cpp.inc"

#include "tile/Dialect/TritonNvidiaGPU/IR/Enums.cpp.inc"
#include "tile/Dialect/TritonNvidiaGPU/IR/OpInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/AttrDefs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/Types.cpp.inc"

namespace {

struct TritonNvidiaGPUOpAsmInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<TensorMemoryEncodingAttr>(attr)) {
      os << "tmem";
      return AliasResult::FinalAlias;
    }
    if (isa<TensorMemoryScalesEncodingAttr>(attr)) {
      os << "tmem_scales";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};

} // namespace

void TritonNvidiaGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/AttrDefs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/Ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.cpp.inc"
      >();
  addInterfaces<TritonNvidiaGPUOpAsmInterface, InlineAnywhere>();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult
TensorDescIm2ColType::verify(function_ref<InFlightDiagnostic()> emitError,
                             RankedTensorType blockType) {
  if (blockType.getRank() != 2 || !blockType.hasStaticShape() ||
      !blockType.getElementType().isIntOrFloat())
    return emitError() << "expected a block of pixels and channels, both of a "
                          "static number, found "
                       << blockType;
  // This is what the hardware takes at once.
  constexpr int64_t kMostPixels = 1024;
  if (blockType.getDimSize(0) > kMostPixels)
    return emitError() << "expected at most " << kMostPixels
                       << " pixels, found " << blockType.getDimSize(0);
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static LogicalResult
verifyCTASplit(function_ref<InFlightDiagnostic()> emitError, unsigned splitM,
               unsigned splitN) {
  if (!llvm::isPowerOf2_32(splitM) || !llvm::isPowerOf2_32(splitN))
    return emitError()
           << "expected powers of two as CTASplitM and CTASplitN, found "
           << splitM << " and " << splitN;
  return success();
}

static gpu::CTALayoutAttr getSplitLayout(MLIRContext *context, unsigned splitM,
                                         unsigned splitN) {
  SmallVector<unsigned> split{splitM, splitN};
  return gpu::CTALayoutAttr::get(context, /*CTAsPerCGA=*/split,
                                 /*CTASplitNum=*/split,
                                 /*CTAOrder=*/ArrayRef<unsigned>{0, 1});
}

LogicalResult
TensorMemoryEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned blockM, unsigned blockN,
                                 unsigned colStride, unsigned splitM,
                                 unsigned splitN, bool twoCTAs) {
  if (blockM != 64 && blockM != 128)
    return emitError() << "expected blockM to be 64 or 128, found " << blockM;
  if (!llvm::isPowerOf2_32(blockN) || blockN > kTensorMemoryColumns)
    return emitError() << "expected blockN to be a power of two, at most "
                       << kTensorMemoryColumns << ", found " << blockN;
  if (colStride != 1 && colStride != 2 && colStride != 4)
    return emitError() << "expected colStride to be 1, 2 or 4, found "
                       << colStride;
  return verifyCTASplit(emitError, splitM, splitN);
}

gpu::CTALayoutAttr TensorMemoryEncodingAttr::getCTALayout() const {
  return getSplitLayout(getContext(), getCTASplitM(), getCTASplitN());
}

unsigned TensorMemoryEncodingAttr::getRank() const { return 2; }

LogicalResult TensorMemoryScalesEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned splitM,
    unsigned splitN) {
  return verifyCTASplit(emitError, splitM, splitN);
}

gpu::CTALayoutAttr TensorMemoryScalesEncodingAttr::getCTALayout() const {
  return getSplitLayout(getContext(), getCTASplitM(), getCTASplitN());
}

unsigned TensorMemoryScalesEncodingAttr::getRank() const { return 2; }
