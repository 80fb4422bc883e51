//===-- Assemble.cpp - From assembly to an object -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TargetMachine.h"

#include "tile/Target/FatalErrors.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::triton;

/// Collects what the assembler refuses, with the lines.
static void collect(const llvm::SMDiagnostic &diagnostic, void *errors) {
  if (diagnostic.getKind() != llvm::SourceMgr::DK_Error)
    return;
  llvm::raw_string_ostream os(*static_cast<std::string *>(errors));
  os << "\n<amdgcn>:" << diagnostic.getLineNo() << ": "
     << diagnostic.getMessage() << " [" << diagnostic.getLineContents().trim()
     << "]";
}

static FailureOr<std::string> runAssembler(ModuleOp diagnosticOp,
                                           StringRef assembly,
                                           const amd::AMDGCNOptions &options) {
  auto machine = amd::createAMDGPUMachine(diagnosticOp, options);
  if (failed(machine))
    return failure();
  const llvm::Target &target = (*machine)->getTarget();
  const llvm::Triple &triple = (*machine)->getTargetTriple();
  const llvm::MCAsmInfo &asmInfo = *(*machine)->getMCAsmInfo();
  const llvm::MCRegisterInfo &registers = *(*machine)->getMCRegisterInfo();
  const llvm::MCSubtargetInfo &subtarget = *(*machine)->getMCSubtargetInfo();
  std::unique_ptr<llvm::MCInstrInfo> instructions(target.createMCInstrInfo());

  std::string errors;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(assembly, "<amdgcn>"), llvm::SMLoc());
  sources.setDiagHandler(collect, &errors);
  llvm::MCTargetOptions mcOptions;
  llvm::MCContext context(triple, &asmInfo, &registers, &subtarget, &sources,
                          &mcOptions);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(
      target.createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream os(object);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(
      target.createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCAsmBackend> backend(
      target.createMCAsmBackend(subtarget, registers, mcOptions));
  std::unique_ptr<llvm::MCObjectWriter> writer =
      backend->createObjectWriter(os);
  std::unique_ptr<llvm::MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, asmInfo));
  std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
      target.createMCAsmParser(subtarget, *parser, *instructions, mcOptions));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false) || !errors.empty())
    return diagnosticOp.emitError("the assembler refuses the code:") << errors;
  return std::string(object);
}

FailureOr<std::string> amd::assemble(ModuleOp diagnosticOp, StringRef assembly,
                                     const AMDGCNOptions &options) {
  FailureOr<std::string> result = failure();
  if (failed(runGuarded(diagnosticOp, [&] {
        result = runAssembler(diagnosticOp, assembly, options);
      })))
    return failure();
  return result;
}
