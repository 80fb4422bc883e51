//===-- Dialect.cpp - The ttg dialect -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeclaredAttributes.h"

#include "LayoutCache.h"
#include "LayoutInterfaces.h"
#include "tile/Dialect/Triton/IR/InlineAnywhere.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/IndexedOps.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

#include "tile/Dialect/TritonGPU/IR/Dialect.cpp.inc"

namespace {

/// Names encodings as users know them: #blocked, #mma, #shared, ...
struct AliasInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    StringRef alias =
        TypeSwitch<Attribute, StringRef>(attr)
            .Case<MmaEncodingTrait>([](auto) { return "mma"; })
            .Case<SharedEncodingTrait>([](auto) { return "shared"; })
            .Case<BlockedEncodingAttr>([](auto) { return "blocked"; })
            .Case<LinearEncodingAttr>([](auto) { return "linear"; })
            .Case<SharedMemorySpaceAttr>([](auto) { return "smem"; })
            .Default([](Attribute) { return ""; });
    if (alias.empty())
      return OpAsmDialectInterface::getAlias(attr, os);
    os << alias;
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TritonGPUDialect::registerInterfaces() {
  addInterfaces<AliasInterface, InlineAnywhere, LayoutCache,
                TritonGPUInferLayout, TritonGPUVerifyTensorLayout>();
}

void TritonGPUDialect::initialize() {
  loadAttributeDialects(*getContext());
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonGPU/IR/Ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonGPU/IR/IndexedOps.cpp.inc"
      >();
  registerInterfaces();
}

Operation *TritonGPUDialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
