//===-- code_generation.cpp - What the bindings of all backends share -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "CodeGeneration.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir;

namespace tile::python {

nb::dict getKernelInfo(PyModule &module,
                       FailureOr<triton::KernelInfo> (*find)(ModuleOp)) {
  DiagnosticCollector diagnostics(module.unit->context.get());
  FailureOr<triton::KernelInfo> info = find(module.unit->module.get());
  diagnostics.check(info, "the module has no kernel");
  nb::dict result;
  result["name"] = info->name;
  result["num_warps"] = info->numWarps;
  result["num_ctas"] = info->numCTAs;
  result["shared"] = info->sharedMemory;
  result["global_scratch_size"] = info->globalScratchSize;
  result["global_scratch_align"] = info->globalScratchAlignment;
  result["disjoint_arguments"] = info->disjointArguments;
  result["undefined_loads"] = info->undefinedLoads;
  result["small_arguments"] = info->smallArguments;
  return result;
}

triton::LLVMOwner<llvm::Module> parseLLVMIR(const std::string &text,
                                            llvm::LLVMContext &context) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module =
      llvm::parseIR(llvm::MemoryBufferRef(text, "<llir>"), error, context);
  if (!module) {
    std::string message;
    llvm::raw_string_ostream os(message);
    error.print(nullptr, os, /*ShowColors=*/false);
    throw MLIRError{"cannot parse the LLVM IR: " + message, {}};
  }
  return triton::LLVMOwner<llvm::Module>(module.release());
}

} // namespace tile::python
