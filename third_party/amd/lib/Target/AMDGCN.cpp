//===-- AMDGCN.cpp - From the LLVM dialect to assembly --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Target/AMDGCN.h"

#include "LLVM22/Workarounds.h"
#include "TargetMachine.h"

#include "amd/IR/AttributeNames.h"
#include "amd/TargetTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "tile/Target/LinkLibrary.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

/// Makes LLVM's code generator and assembler ready, once.
static void initializeAMDGPU() {
  static const bool done = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    insertPassesOfWorkarounds(llvm::Triple(kTriple).getArchName(),
                              getLLVMWorkarounds());
    return true;
  }();
  (void)done;
}

FailureOr<std::unique_ptr<llvm::TargetMachine>>
amd::createAMDGPUMachine(ModuleOp module, const AMDGCNOptions &options) {
  const AMDTarget *target = lookupAMDTarget(options.processor);
  if (options.processor.empty()) {
    FailureOr<const AMDTarget *> found = getAMDTarget(module);
    if (failed(found))
      return failure();
    target = *found;
  }
  if (!target)
    return emitError(module.getLoc(), "unknown processor '")
           << options.processor << "'";
  initializeAMDGPU();
  auto machine = createTargetMachine(
      module, llvm::Triple(kTriple), target->processor,
      getFeaturesOfWorkarounds(getLLVMWorkarounds(), target->processor),
      options);
  // Instructions themselves say whether they may be fused.
  if (succeeded(machine) && options.enableFpFusion)
    (*machine)->Options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return machine;
}

/// Lets multiplications and additions of the kernel become one instruction.
/// Those of the device library, which is linked later, must not: they count on
/// what each of them rounds.
static void allowFusion(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &inst : block)
        if (isa<llvm::FPMathOperator>(inst))
          inst.setHasAllowContract(true);
}

void amd::registerTranslations(DialectRegistry &registry) {
  registerLLVMIRTranslations(registry);
  registerROCDLDialectTranslation(registry);
}

/// Hands on what the kernels print; LLVM asks the run time for a buffer where
/// there is such metadata.
static void addPrintFormats(ModuleOp from, llvm::Module &to) {
  auto formats = from->getAttrOfType<ArrayAttr>(kPrintFormatsAttrName);
  if (!formats)
    return;
  llvm::LLVMContext &context = to.getContext();
  llvm::NamedMDNode *list = to.getOrInsertNamedMetadata("llvm.printf.fmts");
  for (StringAttr format : formats.getAsRange<StringAttr>())
    list->addOperand(llvm::MDNode::get(
        context, llvm::MDString::get(context, format.getValue())));
}

std::unique_ptr<llvm::Module>
amd::translateToLLVMIR(ModuleOp module, llvm::LLVMContext &context,
                       const AMDGCNOptions &options) {
  auto machine = createAMDGPUMachine(module, options);
  if (failed(machine))
    return nullptr;
  std::unique_ptr<llvm::Module> result =
      triton::translateToLLVMIR(module, context, **machine);
  if (!result)
    return nullptr;
  if (!options.lineInfo)
    llvm::StripDebugInfo(*result);
  if (options.enableFpFusion)
    allowFusion(*result);
  // What the run times of the last years load.
  result->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
  addPrintFormats(module, *result);
  if (const AMDTarget *target = lookupAMDTarget((*machine)->getTargetCPU()))
    markWavesByLDS(module, *target, *result);
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    if (options.flushDenormals)
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign");
    if (options.wavesPerEU &&
        function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL)
      function.addFnAttr("amdgpu-waves-per-eu",
                         std::to_string(options.wavesPerEU));
  }
  return result;
}

LogicalResult amd::optimizeLLVM(ModuleOp diagnosticOp, llvm::Module &module,
                                const AMDGCNOptions &options) {
  auto machine = createAMDGPUMachine(diagnosticOp, options);
  if (failed(machine) || failed(linkInstrumentLibrary(diagnosticOp, module)) ||
      failed(linkDeviceLibrary(diagnosticOp, module)))
    return failure();
  // In the machine's IEEE mode, maxima and minima of signalling NaNs are NaNs,
  // and LLVM makes every operand a quiet one first.
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("amdgpu-ieee", "false");
  if (failed(optimizeLLVMIR(diagnosticOp, module, **machine, options)))
    return failure();
  defineLanesOfConstants(module);
  applyWorkarounds(getLLVMWorkarounds(), module, **machine);
  waitForDirectLoadsAsWritten(module);
  dropRedundantWaits(module);
  addressSharedMemoryOfFunctions(module);
  const AMDTarget *target = lookupAMDTarget((*machine)->getTargetCPU());
  if (target && target->mfmaVersion)
    for (llvm::Function &function : module)
      fenceProducts(function);
  return success();
}

FailureOr<std::string> amd::emitAssembly(ModuleOp diagnosticOp,
                                         llvm::Module &module,
                                         const AMDGCNOptions &options) {
  auto machine = createAMDGPUMachine(diagnosticOp, options);
  if (failed(machine))
    return failure();
  FailureOr<std::string> assembly =
      emitForScarceRegisters(diagnosticOp, module, **machine);
  if (failed(assembly) || failed(checkSpillOffsets(diagnosticOp, *assembly)))
    return failure();
  return assembly;
}

FailureOr<std::string>
amd::translateModuleToAMDGCN(ModuleOp module, const AMDGCNOptions &options,
                             std::string *llvmIR) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateToLLVMIR(module, context, options);
  if (!llvmModule || failed(optimizeLLVM(module, *llvmModule, options)))
    return failure();
  if (llvmIR) {
    llvm::raw_string_ostream os(*llvmIR);
    llvmModule->print(os, nullptr);
  }
  return emitAssembly(module, *llvmModule, options);
}

FailureOr<KernelInfo> amd::getKernelInfo(ModuleOp module) {
  return triton::getKernelInfo(module,
                               ROCDL::ROCDLDialect::getKernelFuncAttrName());
}
