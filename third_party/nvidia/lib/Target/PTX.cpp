//===-- PTX.cpp - From the LLVM dialect to PTX ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Target/PTX.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Target/LLVMFlagScope.h"
#include "tile/Target/LinkLibrary.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "nvidia/Target/ConvertBytes.h"
#include "nvidia/Target/CountAtTheEnd.h"
#include "nvidia/Target/KeepFromUnrolling.h"
#include "nvidia/Target/NarrowFactors.h"
#include "nvidia/Target/PackBitwise.h"
#include "nvidia/Target/ShareBases.h"
#include "nvidia/Target/ShareLoopOffsets.h"
#include "nvidia/Target/ShortenLiveRanges.h"
#include "nvidia/TargetTable.h"

#include "llvm/CodeGen/AtomicExpand.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

namespace {
constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// Makes LLVM's code generator ready, once.
void initializeNVPTX() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

FailureOr<const NVIDIATarget *> findTarget(ModuleOp module,
                                           const PTXOptions &options) {
  if (options.computeCapability == 0)
    return getNVIDIATarget(module);
  if (const NVIDIATarget *target =
          lookupNVIDIATarget(options.computeCapability))
    return target;
  return emitError(module.getLoc(), "unknown compute capability ")
         << options.computeCapability;
}

FailureOr<std::unique_ptr<llvm::TargetMachine>>
createNVPTXMachine(ModuleOp module, const PTXOptions &options) {
  FailureOr<const NVIDIATarget *> target = findTarget(module, options);
  if (failed(target))
    return failure();
  initializeNVPTX();
  // Addresses of shared memory take one register instead of two. LLVM knows no
  // way but the command line to ask for that. The machine keeps the answer.
  constexpr StringRef name = "nvptx-short-ptr";
  LLVMFlagScope scope(name, true);
  if (!scope)
    return emitError(module.getLoc(), "this LLVM has no option '")
           << name << "'";
  int ptxVersion =
      options.ptxVersion ? options.ptxVersion : (*target)->ptxVersion;
  // Without any optimisation moves of registers stay, also of those that a
  // wgmma in flight writes: nothing may read them before it is waited for.
  CodeGenOptions generation = options;
  generation.optLevel = std::max(generation.optLevel, 1);
  return createTargetMachine(module, llvm::Triple(kTriple),
                             (*target)->processor,
                             "+ptx" + std::to_string(ptxVersion), generation);
}

bool needsLibdevice(const llvm::Module &module) {
  return llvm::any_of(module.functions(), [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
}

/// Makes loops around compare-and-swap of the atomic operations that the
/// machine lacks. LLVM begins them with a plain load, of what other threads
/// write meanwhile.
void expandAtomics(llvm::Module &module, const llvm::TargetMachine &machine) {
  llvm::PassBuilder builder;
  llvm::FunctionAnalysisManager analyses;
  builder.registerFunctionAnalyses(analyses);
  llvm::AtomicExpandPass expand(machine);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    expand.run(function, analyses);
    for (llvm::Instruction &inst : llvm::instructions(function)) {
      auto *swap = dyn_cast<llvm::AtomicCmpXchgInst>(&inst);
      auto *known =
          swap ? dyn_cast<llvm::PHINode>(swap->getCompareOperand()) : nullptr;
      if (!known)
        continue;
      for (llvm::Value *first : known->incoming_values())
        if (auto *load = dyn_cast<llvm::LoadInst>(first);
            load && load->isSimple() &&
            load->getPointerOperand() == swap->getPointerOperand())
          load->setAtomic(llvm::AtomicOrdering::Monotonic,
                          swap->getSyncScopeID());
    }
  }
}

/// Links what the module uses of libdevice, as private functions.
LogicalResult linkLibdevice(ModuleOp diagnosticOp, llvm::Module &module,
                            const PTXOptions &options) {
  if (options.libdevicePath.empty()) {
    std::string users;
    for (const llvm::Function &function : module)
      if (function.isDeclaration() && function.getName().starts_with("__nv_"))
        users += (users.empty() ? "" : ", ") + function.getName().str();
    return diagnosticOp.emitError("libdevice is needed for ")
           << users
           << " but no path to libdevice.10.bc was given (the nvidia-nvvm "
              "package and CUDA toolkits carry it)";
  }
  return linkLibraryFile(diagnosticOp, module, options.libdevicePath);
}

/// Links what the module uses of the libraries that the user names. They may
/// use functions of each other, of those before them as well. Whatever these
/// were compiled for, they become functions of the kernel's GPU. They keep
/// subnormal numbers as the kernel does.
LogicalResult linkLibraries(ModuleOp diagnosticOp, llvm::Module &module,
                            ArrayRef<std::string> libraries) {
  llvm::DenseSet<llvm::Function *> own;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      own.insert(&function);
  unsigned turns = libraries.size() > 1 ? 2 : 1;
  while (turns-- > 0)
    for (const std::string &library : libraries)
      if (failed(linkLibraryFile(diagnosticOp, module, library)))
        return failure();
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !own.contains(&function))
      for (StringRef attribute : {"denormal-fp-math", "denormal-fp-math-f32",
                                  "target-cpu", "target-features", "tune-cpu"})
        function.removeFnAttr(attribute);
  return success();
}
} // namespace

void nvidia::registerTranslations(DialectRegistry &registry) {
  registerLLVMIRTranslations(registry);
  registerNVVMDialectTranslation(registry);
}

std::unique_ptr<llvm::Module>
nvidia::translateToLLVMIR(ModuleOp module, llvm::LLVMContext &context,
                          const PTXOptions &options) {
  auto machine = createNVPTXMachine(module, options);
  if (failed(machine))
    return nullptr;
  std::unique_ptr<llvm::Module> result =
      triton::translateToLLVMIR(module, context, **machine);
  if (!result)
    return nullptr;
  if (!options.lineInfo)
    llvm::StripDebugInfo(*result);
  // "Reflect" answers libdevice's questions.
  result->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz",
                        uint32_t(options.enableReflectFtz));
  return result;
}

LogicalResult nvidia::optimizeLLVM(ModuleOp diagnosticOp, llvm::Module &module,
                                   const PTXOptions &options) {
  auto machine = createNVPTXMachine(diagnosticOp, options);
  if (failed(machine) || failed(linkInstrumentLibrary(diagnosticOp, module)) ||
      failed(linkLibraries(diagnosticOp, module, options.libraries)) ||
      (needsLibdevice(module) &&
       failed(linkLibdevice(diagnosticOp, module, options))))
    return failure();
  if (failed(optimizeLLVMIR(diagnosticOp, module, **machine, options)))
    return failure();
  if (options.optLevel > 0) {
    FailureOr<const NVIDIATarget *> target = findTarget(diagnosticOp, options);
    if (failed(target))
      return failure();
    convertBytes(module, (*target)->hasBF16Arithmetic);
    packBitwise(module);
    shareBases(module);
    shareLoopOffsets(module);
    shortenLiveRanges(module);
    narrowFactors(module);
    countAtTheEnd(module);
  }
  keepFromUnrolling(module);
  return success();
}

FailureOr<std::string> nvidia::emitPTX(ModuleOp diagnosticOp,
                                       llvm::Module &module,
                                       const PTXOptions &options) {
  auto machine = createNVPTXMachine(diagnosticOp, options);
  if (failed(machine))
    return failure();
  expandAtomics(module, **machine);
  return emitAssembly(diagnosticOp, module, **machine);
}

FailureOr<std::string> nvidia::translateModuleToPTX(ModuleOp module,
                                                    const PTXOptions &options,
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
  return emitPTX(module, *llvmModule, options);
}

FailureOr<KernelInfo> nvidia::getKernelInfo(ModuleOp module) {
  return triton::getKernelInfo(module,
                               NVVM::NVVMDialect::getKernelFuncAttrName());
}

/// The steps of a map, with the numbers of parameters in place of inputs'.
static std::vector<int64_t> getCode(DictionaryAttr facts,
                                    const llvm::DenseMap<int, int> &inputs) {
  auto code = facts.getAs<DenseI64ArrayAttr>("code");
  if (!code)
    return {};
  std::vector<int64_t> steps(code.asArrayRef());
  for (size_t i = 0; i + 2 < steps.size(); i += 3)
    if (steps[i] == int64_t(nvidia_gpu::LaunchStep::Input))
      steps[i + 1] = inputs.lookup(steps[i + 1]);
  return steps;
}

std::vector<TensorMapParameter> nvidia::getTensorMaps(ModuleOp module) {
  std::vector<TensorMapParameter> result;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    llvm::DenseMap<Attribute, int> bases;
    llvm::DenseMap<int, int> inputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (Attribute index =
              function.getArgAttr(i, nvidia_gpu::kTensorMapBaseAttrName))
        bases[index] = i;
      if (auto input = function.getArgAttrOfType<IntegerAttr>(
              i, nvidia_gpu::kTensorMapInputAttrName))
        inputs[input.getInt()] = i;
    }
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto facts = function.getArgAttrOfType<DictionaryAttr>(
          i, nvidia_gpu::kTensorMapAttrName);
      if (!facts)
        continue;
      auto number = [&](StringRef name) -> int {
        return facts.getAs<IntegerAttr>(name).getInt();
      };
      ArrayRef<int32_t> box =
          facts.getAs<DenseI32ArrayAttr>("box").asArrayRef();
      std::vector<int> parts;
      if (auto steps = facts.getAs<DenseI32ArrayAttr>("parts"))
        parts = steps.asArrayRef().vec();
      result.push_back({bases.lookup(facts.get("index")),
                        number("element_type"),
                        number("element_bytes"),
                        number("swizzle"),
                        {box.begin(), box.end()},
                        facts.contains("pixels"),
                        getCode(facts, inputs),
                        parts});
    }
  }
  return result;
}
