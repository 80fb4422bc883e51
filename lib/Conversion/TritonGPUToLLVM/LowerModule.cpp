//===-- LowerModule.cpp - The lowering of a module for a target -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/LowerModule.h"
#include "tile/Conversion/TritonGPUToLLVM/IndexedMemory.h"
#include "tile/Conversion/TritonGPUToLLVM/InstrumentPatterns.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/Membar.h"
#include "tile/Dialect/Proton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"

using namespace mlir;
using namespace mlir::triton;

/// Whether the program has nothing in shared memory but buffers, and all of
/// these have a place.
static bool hasPlacesOfBuffersOnly(ModuleOp module) {
  // What is missing is said in one error, of the module.
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  auto places = ModuleAllocation::read(module);
  if (failed(places))
    return false;
  return llvm::all_of(places->getFunctions(), [](const auto &frame) {
    return llvm::all_of(frame.second->getBuffers(),
                        [](const Allocation::Buffer &buffer) {
                          return buffer.kind == Allocation::Kind::Explicit;
                        });
  });
}

LogicalResult triton::prepareSharedMemory(ModuleOp module) {
  if (failed(gpu::checkTensorsHaveLayouts(module)))
    return failure();
  if (!gpu::maybeLookupNumWarps(module))
    return emitError(module.getLoc(),
                     "expected a 'ttg.num-warps' attribute on the "
                     "module");
  auto size = module->getAttrOfType<IntegerAttr>(gpu::kSharedAttrName);
  if (size && module->hasAttr(kBarriersInsertedAttrName))
    return success();
  // Other compilers may exchange less memory than tile's lowering does. Where
  // there is none of that, their places are as good.
  if (!hasPlacesOfBuffersOnly(module)) {
    if (!size)
      return emitError(module.getLoc(), "shared memory is not allocated: run "
                                        "-allocate-shared-memory first");
    return emitError(module.getLoc(),
                     "barriers between accesses to shared memory are "
                     "not inserted: run -insert-memory-barriers first");
  }
  auto places = ModuleAllocation::read(module);
  insertMemoryBarriers(*places);
  Builder builder(module.getContext());
  module->setAttr(kBarriersInsertedAttrName, builder.getUnitAttr());
  int64_t needed = places->getSharedMemorySize();
  if (!size || size.getInt() < needed)
    module->setAttr(gpu::kSharedAttrName, builder.getI32IntegerAttr(needed));
  return success();
}

static void populateCommonPatterns(const LoweringContext &context) {
  for (auto populate :
       {populateElementwisePatterns,    populateFloatConversionPatterns,
        populateInlineAsmPatterns,      populateViewPatterns,
        populateFunctionPatterns,       populateProgramPatterns,
        populateLoadStorePatterns,      populateAtomicPatterns,
        populateMapElementwisePatterns, populateReducePatterns,
        populateScanPatterns,           populateConvertLayoutPatterns,
        populateLocalMemoryPatterns,    populateIndexedMemoryPatterns,
        populateMemDescPatterns,        populateGatherPatterns,
        populateHistogramPatterns,      populateDebugPatterns,
        populateDotFMAPatterns,         populateInstrumentPatterns})
    populate(context);
  // What is left are scalars.
  const TritonGPUToLLVMTypeConverter &converter = context.converter;
  arith::populateArithToLLVMConversionPatterns(converter, context.patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, context.patterns);
  ub::populateUBToLLVMConversionPatterns(converter, context.patterns);
}

/// What a program says of a loop is on the branch back to its begin. The
/// conversion leaves it there under the name that other dialects use, and the
/// translation to LLVM IR looks for a property.
static void keepLoopAnnotations(ModuleOp module) {
  constexpr StringLiteral name = "llvm.loop_annotation";
  module.walk([&](Operation *op) {
    auto annotation = op->getAttrOfType<LLVM::LoopAnnotationAttr>(name);
    if (!annotation)
      return;
    if (auto branch = dyn_cast<LLVM::BrOp>(op))
      branch.setLoopAnnotationAttr(annotation);
    else if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
      branch.setLoopAnnotationAttr(annotation);
    op->removeDiscardableAttr(name);
  });
}

LogicalResult triton::lowerModule(
    ModuleOp module, const TargetInfo &target,
    function_ref<void(const LoweringContext &, ConversionTarget &)> populate) {
  if (failed(prepareSharedMemory(module)))
    return failure();
  // A call passes the address of its share, even of none.
  bool hasCalls = module.walk([](CallOp) { return WalkResult::interrupt(); })
                      .wasInterrupted();
  auto shared = module->getAttrOfType<IntegerAttr>(gpu::kSharedAttrName);
  if (shared.getInt() > 0 || hasCalls)
    declareSharedMemory(module, target.getSharedAddressSpace());
  module.walk(
      [](FunctionOpInterface function) { markRepeatedLoads(function); });

  MLIRContext *ctx = module.getContext();
  ModuleAxisInfoAnalysis axisInfo(module);
  LowerToLLVMOptions options(ctx);
  TritonGPUToLLVMTypeConverter converter(ctx, options,
                                         target.getSharedAddressSpace());
  RewritePatternSet patterns(ctx);
  ConversionTarget legality(*ctx);
  legality.addLegalDialect<LLVM::LLVMDialect>();
  legality.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  // Records are lowered afterwards, when all warps are in one function.
  legality.addLegalDialect<proton::ProtonDialect>();
  // What nobody here knows of is an error, too.
  legality.markUnknownOpDynamicallyLegal([](Operation *) { return false; });
  populateCommonPatterns({converter, target, patterns, axisInfo, 10});
  populate({converter, target, patterns, axisInfo, 20}, legality);

  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  ScopedDiagnosticHandler explain(ctx, [&](Diagnostic &diagnostic) {
    target.getDeclineReasons().attachTo(diagnostic);
    return failure(); // on to the next handler
  });
  if (failed(applyPartialConversion(module, legality, std::move(patterns),
                                    config)))
    return failure();
  expandPackedTensors(module);
  keepLoopAnnotations(module);
  module.walk([](LLVM::LLVMFuncOp function) {
    function->removeAttr(kSharedMemoryArgumentAttrName);
  });
  return success();
}
