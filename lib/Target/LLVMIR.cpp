//===-- LLVMIR.cpp - From the LLVM dialect to assembly --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LLVMIR.h"
#include "tile/Target/LLVMFlagScope.h"

#include "BoundPacking.h"
#include "PackCarriedElements.h"
#include "tile/Target/ConvergentCycles.h"

#include "tile/Support/AttributeNames.h"
#include "tile/Target/FatalErrors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
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

/// LLVM's LoadStoreVectorizer, which runs in code generators, fills gaps: of
/// three loads it makes one of four elements, the last of which may lie outside
/// the allocation. Vectors of memory are the lowering's business; this
/// attribute is how that pass is told to stay away.
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
      // The registers of a dot must not move while it is under way: a copy
      // of a loop's body would bring moves where the two meet.
      if (StringRef(assembly->getAsmString()).contains("wgmma.mma_async"))
        call->addFnAttr(llvm::Attribute::NoDuplicate);
      if (assembly->hasSideEffects())
        call->setConvergent();
      else
        call->setMemoryEffects(llvm::MemoryEffects::none());
    }
  }
}

/// Drops what parameters are marked with for earlier stages. The translation
/// would warn of each mark, with the whole function in the text of the warning.
void dropForeignMarks(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute mark : function.getArgAttrs(i)) {
        Dialect *dialect = mark.getNameDialect();
        if (!dialect ||
            !dialect->getRegisteredInterface<LLVMTranslationDialectInterface>())
          function.removeArgAttr(i, mark.getName());
      }
}

/// Refuses LLVM IR that is for another machine.
LogicalResult checkTriple(ModuleOp diagnosticOp, const llvm::Module &module,
                          const llvm::TargetMachine &machine) {
  const llvm::Triple &triple = module.getTargetTriple();
  if (triple.getArch() == llvm::Triple::UnknownArch ||
      triple.getArch() == machine.getTargetTriple().getArch())
    return success();
  return diagnosticOp.emitError("the LLVM IR is for ")
         << triple.str() << ", the target is "
         << machine.getTargetTriple().str();
}

/// Whether a value is zero, LLVM asks at each visit of a comparison with zero.
/// It looks for a branch among all users of all comparisons of that value. Bits
/// of a thread's number decide thousands of selects in code for sorts and
/// scans. Each select that goes has the comparison visited again. That took
/// time with the square of the code. Kernels have few such branches, so LLVM is
/// told not to look.
constexpr StringRef kConditionSearch = "dom-conditions-max-uses";

/// Behind the vectorisers, LLVM lets a branch jump over the head of a loop into
/// its middle, where both branches have the same condition. Such a loop has two
/// entries, and then threads of one warp come to a barrier one after the other:
/// nothing brings them together at its head. Given on the command line, this
/// option holds for all runs of SimplifyCFG.
constexpr StringRef kKeepLoops = "keep-loops";

void printBeforePass(StringRef pass, llvm::Any ir) {
  if (const auto *module = llvm::any_cast<const llvm::Module *>(&ir))
    llvm::errs() << "*** LLVM IR Dump Before " << pass << " ***\n" << **module;
  else if (const auto *function = llvm::any_cast<const llvm::Function *>(&ir))
    llvm::errs() << "*** LLVM IR Dump Before " << pass << " on "
                 << (*function)->getName() << " ***\n"
                 << **function;
}
} // namespace

CollectDiagnostics::CollectDiagnostics(llvm::LLVMContext &context)
    : context(context), saved(context.getDiagnosticHandler()) {
  context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(errors));
}

CollectDiagnostics::~CollectDiagnostics() {
  context.setDiagnosticHandler(std::move(saved));
}

void triton::registerLLVMIRTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

FailureOr<std::unique_ptr<llvm::TargetMachine>>
triton::createTargetMachine(ModuleOp diagnosticOp, const llvm::Triple &triple,
                            StringRef processor, StringRef features,
                            const CodeGenOptions &options) {
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return diagnosticOp.emitError("this build has no code generator for ")
           << triple.str() << ": " << error;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = options.enableFpFusion
                                      ? llvm::FPOpFusion::Fast
                                      : llvm::FPOpFusion::Strict;
  targetOptions.MCOptions.AsmVerbose = true;
  auto level = options.optLevel >= 3   ? llvm::CodeGenOptLevel::Aggressive
               : options.optLevel == 2 ? llvm::CodeGenOptLevel::Default
               : options.optLevel == 1 ? llvm::CodeGenOptLevel::Less
                                       : llvm::CodeGenOptLevel::None;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, processor, features, targetOptions,
                                  llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return diagnosticOp.emitError("cannot create a target machine for ")
           << processor << " of " << triple.str();
  return machine;
}

std::unique_ptr<llvm::Module>
triton::translateToLLVMIR(ModuleOp module, llvm::LLVMContext &context,
                          const llvm::TargetMachine &machine) {
  dropForeignMarks(module);
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "tile");
  if (!result) {
    emitError(module.getLoc(), "translation to LLVM IR failed");
    return nullptr;
  }
  // From here on every LLVM pass sees the target: without divergence
  // information some of them break code whose threads must stay together.
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  // Whoever reads the text again knows what it is for.
  if (auto target = module->getAttrOfType<StringAttr>(gpu::kTargetAttrName))
    result->addModuleFlag(llvm::Module::Error, gpu::kTargetAttrName,
                          llvm::MDString::get(context, target.getValue()));
  markConvergent(*result);
  return result;
}

static LogicalResult optimize(ModuleOp diagnosticOp, llvm::Module &module,
                              llvm::TargetMachine &machine,
                              const CodeGenOptions &options) {
  CollectDiagnostics diagnostics(module.getContext());
  llvm::PipelineTuningOptions tuning;
  // Loops were unrolled on purpose or not at all; short vectors are what most
  // GPUs have to take apart again.
  tuning.LoopUnrolling = true;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = options.packOperations;

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

  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerScalarOptimizerLateEPCallback(
      [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(PackCarriedElements());
      });
  if (options.packOperations)
    builder.registerVectorizerStartEPCallback(
        [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(BoundPacking());
        });
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
  keepLoadsAsTheyAre(module);
  if (!diagnostics.getErrors().empty())
    return diagnosticOp.emitError("LLVM optimisation failed: ")
           << diagnostics.getErrors();
  if (const llvm::Instruction *inst = findConvergentInIrreducible(module))
    return diagnosticOp.emitError("LLVM made a loop with two entries around a "
                                  "barrier or an exchange between lanes, in '")
           << inst->getFunction()->getName()
           << "'; its threads would not stay together";
  return success();
}

LogicalResult triton::optimizeLLVMIR(ModuleOp diagnosticOp,
                                     llvm::Module &module,
                                     llvm::TargetMachine &machine,
                                     const CodeGenOptions &options) {
  LLVMFlagScope scope(kConditionSearch, 0u);
  if (!scope)
    return diagnosticOp.emitError("this LLVM has no option '")
           << kConditionSearch << "'";
  LLVMFlagScope loops(kKeepLoops, true, /*isStated=*/true);
  if (!loops)
    return diagnosticOp.emitError("this LLVM has no option '")
           << kKeepLoops << "'";
  LogicalResult result = failure();
  if (failed(checkTriple(diagnosticOp, module, machine)) ||
      failed(runGuarded(diagnosticOp, [&] {
        result = optimize(diagnosticOp, module, machine, options);
      })))
    return failure();
  return result;
}

static FailureOr<std::string> emit(ModuleOp diagnosticOp, llvm::Module &module,
                                   llvm::TargetMachine &machine) {
  std::string verifierErrors;
  llvm::raw_string_ostream verifierStream(verifierErrors);
  if (llvm::verifyModule(module, &verifierStream))
    return diagnosticOp.emitError("invalid LLVM IR: ") << verifierErrors;

  CollectDiagnostics diagnostics(module.getContext());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile))
    return diagnosticOp.emitError("the target cannot emit assembly");
  passes.run(module);
  if (!diagnostics.getErrors().empty())
    return diagnosticOp.emitError("code generation failed: ")
           << diagnostics.getErrors();
  return std::string(text);
}

FailureOr<std::string> triton::emitAssembly(ModuleOp diagnosticOp,
                                            llvm::Module &module,
                                            llvm::TargetMachine &machine) {
  FailureOr<std::string> result = failure();
  if (failed(checkTriple(diagnosticOp, module, machine)) ||
      failed(runGuarded(diagnosticOp,
                        [&] { result = emit(diagnosticOp, module, machine); })))
    return failure();
  return result;
}

FailureOr<KernelInfo> triton::getKernelInfo(ModuleOp module,
                                            StringRef kernelAttrName) {
  auto integer = [&](StringRef name, int otherwise) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? static_cast<int>(attr.getInt()) : otherwise;
  };
  KernelInfo info;
  info.numWarps =
      integer(gpu::kTotalNumWarpsAttrName, integer(gpu::kNumWarpsAttrName, 4));
  info.numCTAs = integer(gpu::kNumCTAsAttrName, 1);
  info.sharedMemory = integer(gpu::kSharedAttrName, 0);
  info.globalScratchSize = integer(gpu::kGlobalScratchSizeAttrName, 0);
  info.globalScratchAlignment =
      integer(gpu::kGlobalScratchAlignmentAttrName, 1);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(kernelAttrName))
      continue;
    if (!info.name.empty())
      return emitError(module.getLoc(), "expected one kernel, found '")
             << info.name << "' and '" << function.getName() << "'";
    info.name = function.getName().str();
    auto read = [&](StringRef name, std::vector<int> &numbers) {
      if (auto attr = function->getAttrOfType<DenseI32ArrayAttr>(name))
        numbers.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
    };
    read(kDisjointArgumentsAttrName, info.disjointArguments);
    read(kSmallArgumentsAttrName, info.smallArguments);
  }
  if (auto loads = module->getAttrOfType<ArrayAttr>(kUndefinedLoadsAttrName))
    for (auto place : loads.getAsRange<StringAttr>())
      info.undefinedLoads.push_back(place.str());
  if (info.name.empty())
    return emitError(module.getLoc(), "expected a kernel function, found none");
  return info;
}
