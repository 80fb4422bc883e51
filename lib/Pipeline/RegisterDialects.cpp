//===-- RegisterDialects.cpp - Dialects and their extensions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/InitAll.h"

#include "tile/Dialect/Debug/IR/Dialect.h"
#include "tile/Dialect/Gluon/IR/Dialect.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/Proton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TTNGAliasDialect.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::triton::backends {
#define TILE_BACKEND(name)                                                     \
  namespace name {                                                             \
  void registerDialects(DialectRegistry &registry);                            \
  }
#include "tile/Backends.inc"
#undef TILE_BACKEND
} // namespace mlir::triton::backends

void mlir::triton::registerAllDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, ::mlir::gpu::GPUDialect,
                  index::IndexDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  math::MathDialect, scf::SCFDialect, ub::UBDialect>();
  registry.insert<TritonDialect>();
  registry.insert<triton::gpu::TritonGPUDialect>();
  registry.insert<nvidia_gpu::TritonNvidiaGPUDialect,
                  nvidia_gpu::TTNGAliasDialect>();
  registry.insert<debug::DebugDialect, proton::ProtonDialect>();
  registry.insert<instrument::TritonInstrumentDialect>();
  // Read, but made by no pass.
  registry.insert<gluon::GluonDialect, nvws::NVWSDialect>();
  func::registerInlinerExtension(registry);
  LLVM::registerInlinerInterface(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);

#define TILE_BACKEND(name) backends::name::registerDialects(registry);
#include "tile/Backends.inc"
#undef TILE_BACKEND
}
