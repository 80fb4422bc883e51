//===-- PTX.cpp - From the LLVM dialect to PTX ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/PTX.h"
#include "tile/Target/TargetTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

#define DEBUG_TYPE "tile-ptx"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// Collects what LLVM reports, so that it comes out as one MLIR diagnostic
/// instead of on stderr (or, for errors, instead of ending the process).
struct DiagnosticCollector : llvm::DiagnosticHandler {
  std::string &errors;
  explicit DiagnosticCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream os(errors);
    llvm::DiagnosticPrinterRawOStream printer(os);
    if (!errors.empty())
      os << "; ";
    info.print(printer);
    return true;
  }
};

/// Routes a context's diagnostics into a string for the life of this object.
class CollectDiagnostics {
public:
  explicit CollectDiagnostics(llvm::LLVMContext &context)
      : context(context), saved(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(errors));
  }
  ~CollectDiagnostics() { context.setDiagnosticHandler(std::move(saved)); }
  const std::string &getErrors() const { return errors; }

private:
  std::string errors;
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> saved;
};

void initializeNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Addresses of shared memory take one register instead of two.
    auto &options = llvm::cl::getRegisteredOptions();
    if (auto it = options.find("nvptx-short-ptr"); it != options.end())
      static_cast<llvm::cl::opt<bool> *>(it->second)->setValue(true);
  });
}

FailureOr<const NVIDIATarget *> findTarget(ModuleOp module,
                                           const PTXOptions &options) {
  if (options.computeCapability == 0)
    return getNVIDIATarget(module);
  if (const NVIDIATarget *target =
          lookupNVIDIATarget(options.computeCapability))
    return target;
  return module.emitError("unknown compute capability ")
         << options.computeCapability;
}

FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(ModuleOp module, const PTXOptions &options) {
  FailureOr<const NVIDIATarget *> target = findTarget(module, options);
  if (failed(target))
    return failure();
  initializeNVPTX();
  llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return module.emitError("this build has no NVPTX code generator: ")
           << error;
  int ptxVersion =
      options.ptxVersion ? options.ptxVersion : (*target)->ptxVersion;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = options.enableFpFusion
                                      ? llvm::FPOpFusion::Fast
                                      : llvm::FPOpFusion::Strict;
  targetOptions.MCOptions.AsmVerbose = true;
  auto level = options.optLevel >= 3   ? llvm::CodeGenOptLevel::Aggressive
               : options.optLevel == 2 ? llvm::CodeGenOptLevel::Default
               : options.optLevel == 1 ? llvm::CodeGenOptLevel::Less
                                       : llvm::CodeGenOptLevel::None;
  std::unique_ptr<llvm::TargetMachine> machine(llvmTarget->createTargetMachine(
      triple, (*target)->processor, "+ptx" + std::to_string(ptxVersion),
      targetOptions, llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return module.emitError("cannot create an NVPTX target machine for ")
           << (*target)->processor;
  return machine;
}

/// LLVM's LoadStoreVectorizer fills gaps: of three loads it makes one of four
/// elements, the last of which may lie outside the allocation. Vectors are the
/// lowering's business; this attribute is how that pass is told to stay away.
void keepLoadsAsTheyAre(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoImplicitFloat);
}

/// Inline assembly with side effects may synchronise threads (barriers,
/// shuffles, mma), and the LLVM dialect cannot say so: forbid moving it under
/// other control flow. Likewise functions that may contain such calls.
void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isIntrinsic())
      continue;
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::Convergent);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    for (llvm::Instruction &inst : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::CallInst>(&inst);
      if (!call)
        continue;
      auto *assembly = dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
      if (!assembly)
        continue;
      call->addFnAttr(llvm::Attribute::NoUnwind);
      if (assembly->hasSideEffects())
        call->setConvergent();
      else
        call->setMemoryEffects(llvm::MemoryEffects::none());
    }
  }
}

bool needsLibdevice(const llvm::Module &module) {
  return llvm::any_of(module.functions(), [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
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
  auto buffer = llvm::MemoryBuffer::getFile(options.libdevicePath);
  if (!buffer)
    return diagnosticOp.emitError("cannot read libdevice '")
           << options.libdevicePath << "': " << buffer.getError().message();
  auto library = llvm::getLazyBitcodeModule((*buffer)->getMemBufferRef(),
                                            module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot parse libdevice '")
           << options.libdevicePath
           << "': " << llvm::toString(library.takeError());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(*library),
                                llvm::Linker::Flags::LinkOnlyNeeded,
                                internalize))
    return diagnosticOp.emitError("linking libdevice failed");
  return success();
}
} // namespace

void triton::registerLLVMIRTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

std::unique_ptr<llvm::Module>
triton::translateToLLVMIR(ModuleOp module, llvm::LLVMContext &context,
                          const PTXOptions &options) {
  auto machine = createTargetMachine(module, options);
  if (failed(machine))
    return nullptr;
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "tile");
  if (!result) {
    module.emitError("translation to LLVM IR failed");
    return nullptr;
  }
  if (!options.lineInfo)
    llvm::StripDebugInfo(*result);
  // From here on every LLVM pass sees the target: without divergence
  // information some of them break code whose threads must stay together.
  result->setTargetTriple((*machine)->getTargetTriple());
  result->setDataLayout((*machine)->createDataLayout());
  // "Reflect" answers libdevice's questions.
  result->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz",
                        uint32_t(options.enableReflectFtz));
  markConvergent(*result);
  keepLoadsAsTheyAre(*result);
  return result;
}

static void printBeforePass(StringRef pass, llvm::Any ir) {
  if (const auto *module = llvm::any_cast<const llvm::Module *>(&ir))
    llvm::errs() << "*** LLVM IR Dump Before " << pass << " ***\n" << **module;
  else if (const auto *function = llvm::any_cast<const llvm::Function *>(&ir))
    llvm::errs() << "*** LLVM IR Dump Before " << pass << " on "
                 << (*function)->getName() << " ***\n"
                 << **function;
}

LogicalResult triton::optimizeLLVM(ModuleOp diagnosticOp, llvm::Module &module,
                                   const PTXOptions &options) {
  auto machine = createTargetMachine(diagnosticOp, options);
  if (failed(machine))
    return failure();
  CollectDiagnostics diagnostics(module.getContext());
  if (needsLibdevice(module) &&
      failed(linkLibdevice(diagnosticOp, module, options)))
    return failure();

  llvm::PipelineTuningOptions tuning;
  // Loops were unrolled on purpose or not at all; the SLP vectoriser turns
  // scalar registers into short vectors that NVPTX has to take apart again.
  tuning.LoopUnrolling = true;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;

  // VectorCombine takes the lowering's vector loads apart, and nothing would
  // put them together again.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](StringRef pass, llvm::Any) { return pass != "VectorCombinePass"; });

  llvm::TimePassesHandler timer(options.timePasses);
  timer.setOutStream(llvm::errs());
  timer.registerCallbacks(callbacks);
  if (options.printIR)
    callbacks.registerBeforeNonSkippedPassCallback(printBeforePass);

  llvm::PassBuilder builder(machine->get(), tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  llvm::OptimizationLevel level =
      options.optLevel >= 3   ? llvm::OptimizationLevel::O3
      : options.optLevel == 2 ? llvm::OptimizationLevel::O2
      : options.optLevel == 1 ? llvm::OptimizationLevel::O1
                              : llvm::OptimizationLevel::O0;
  llvm::ModulePassManager passes =
      level == llvm::OptimizationLevel::O0
          ? builder.buildO0DefaultPipeline(level)
          : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, mam);
  timer.print();
  if (!diagnostics.getErrors().empty())
    return diagnosticOp.emitError("LLVM optimisation failed: ")
           << diagnostics.getErrors();
  return success();
}

FailureOr<std::string> triton::emitPTX(ModuleOp diagnosticOp,
                                       llvm::Module &module,
                                       const PTXOptions &options) {
  auto machine = createTargetMachine(diagnosticOp, options);
  if (failed(machine))
    return failure();
  std::string verifierErrors;
  llvm::raw_string_ostream verifierStream(verifierErrors);
  if (llvm::verifyModule(module, &verifierStream))
    return diagnosticOp.emitError("invalid LLVM IR: ") << verifierErrors;

  CollectDiagnostics diagnostics(module.getContext());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return diagnosticOp.emitError("the NVPTX target cannot emit assembly");
  passes.run(module);
  if (!diagnostics.getErrors().empty())
    return diagnosticOp.emitError("PTX emission failed: ")
           << diagnostics.getErrors();
  return std::string(text);
}

FailureOr<std::string> triton::translateModuleToPTX(ModuleOp module,
                                                    const PTXOptions &options,
                                                    std::string *llvmIR) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateToLLVMIR(module, context, options);
  if (!llvmModule)
    return failure();
  if (failed(optimizeLLVM(module, *llvmModule, options)))
    return failure();
  if (llvmIR) {
    llvm::raw_string_ostream os(*llvmIR);
    llvmModule->print(os, nullptr);
  }
  return emitPTX(module, *llvmModule, options);
}

FailureOr<KernelInfo> triton::getKernelInfo(ModuleOp module) {
  auto integer = [&](StringRef name, int otherwise) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? static_cast<int>(attr.getInt()) : otherwise;
  };
  KernelInfo info;
  info.numWarps = integer("ttg.total-num-warps", integer("ttg.num-warps", 4));
  info.numCTAs = integer("ttg.num-ctas", 1);
  info.sharedMemory = integer("ttg.shared", 0);
  info.globalScratchSize = integer("ttg.global_scratch_memory_size", 0);
  info.globalScratchAlignment =
      integer("ttg.global_scratch_memory_alignment", 1);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    if (!info.name.empty())
      return module.emitError("expected one kernel, found '")
             << info.name << "' and '" << function.getName() << "'";
    info.name = function.getName().str();
    if (auto pairs =
            function->getAttrOfType<DenseI32ArrayAttr>("tt.disjoint_arguments"))
      info.disjointArguments.assign(pairs.asArrayRef().begin(),
                                    pairs.asArrayRef().end());
  }
  if (info.name.empty())
    return module.emitError("expected a kernel function, found none");
  return info;
}
