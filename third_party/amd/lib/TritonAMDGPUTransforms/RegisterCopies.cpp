//===-- RegisterCopies.cpp - Operands to LDS, through registers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
class RegisterCopies final : public CopyStrategy {
public:
  /// Loads that only operands of matrix instructions are made of.
  bool canCopy(Operation *op, scf::ForOp loop) const override {
    auto load = dyn_cast<LoadOp>(op);
    return load && isa<RankedTensorType>(load.getType()) &&
           getElementTypeOrSelf(load.getType()).isIntOrFloat() &&
           !load->use_empty() &&
           llvm::all_of(load->getUsers(), [&](Operation *user) {
             auto convert = dyn_cast<ConvertLayoutOp>(user);
             auto operand = convert && convert->getBlock() == loop.getBody()
                                ? dyn_cast<DotOperandEncodingAttr>(
                                      convert.getType().getEncoding())
                                : DotOperandEncodingAttr();
             return operand && isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(
                                   operand.getParent());
           });
  }

  Attribute chooseEncoding(Operation *load) const override {
    return amd::getOperandSharedEncoding(cast<LoadOp>(load));
  }

  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override { return Arrival::Store; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    Operation *load = builder.clone(*op);
    auto store =
        LocalStoreOp::create(builder, op->getLoc(), load->getResult(0), slot);
    return {load, store};
  }
};
} // namespace

const CopyStrategy &amd::getRegisterCopies() {
  static const RegisterCopies copies;
  return copies;
}
