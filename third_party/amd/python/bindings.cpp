//===-- bindings.cpp - `tile._C.amd`: code for AMD GPUs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "CodeGeneration.h"
#include "PackedLaunch.h"

#include "amd/Target/AMDGCN.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using triton::amd::AMDGCNOptions;

namespace tile::python {

/// Runs `step` on a module that stands for the place of what it reports.
template <typename StepT>
static std::string runStep(PyContext &context, const char *what, StepT step) {
  DiagnosticCollector diagnostics(context.ref.get());
  OwningOpRef<ModuleOp> place(
      ModuleOp::create(UnknownLoc::get(context.ref.get())));
  FailureOr<std::string> result = step(*place);
  diagnostics.check(result, what);
  return *result;
}

static std::string emitAssembly(const std::string &text, PyContext &context,
                                const AMDGCNOptions &options) {
  triton::LLVMOwner<llvm::LLVMContext> llvmContext(new llvm::LLVMContext);
  triton::LLVMOwner<llvm::Module> module = parseLLVMIR(text, *llvmContext);
  return runStep(context, "the generation of assembly failed",
                 [&](ModuleOp place) {
                   return triton::amd::emitAssembly(place, *module, options);
                 });
}

/// hipModuleLaunchKernel of the run time, of which a process loads one.
static int (*hipLaunch)(void *function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, void *stream,
                        void **params, void **extra);

/// What PackedLaunch calls.
static int launchOnHIP(const LaunchConfig *config, void *function,
                       void **params, void **extra) {
  auto [gridX, gridY, gridZ] = config->grid;
  auto [blockX, blockY, blockZ] = config->block;
  return hipLaunch(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                   config->sharedBytes, config->stream, params, extra);
}

static nb::bytes assemble(const std::string &assembly, PyContext &context,
                          const AMDGCNOptions &options) {
  std::string object =
      runStep(context, "the assembly failed", [&](ModuleOp place) {
        return triton::amd::assemble(place, assembly, options);
      });
  return nb::bytes(object.data(), object.size());
}

static nb::bytes link(nb::bytes object, PyContext &context) {
  llvm::StringRef bytes(object.c_str(), object.size());
  std::string result = runStep(context, "the link failed", [&](ModuleOp place) {
    return triton::amd::link(place, bytes);
  });
  return nb::bytes(result.data(), result.size());
}

void backends::amd::populate(nb::module_ &root) {
  auto m = root.def_submodule("amd", "Code for AMD GPUs.");
  nb::class_<AMDGCNOptions>(m, "AMDGCNOptions",
                            "How LLVM IR is optimised and assembly emitted.")
      .def(nb::init<>())
      .def_rw("processor", &AMDGCNOptions::processor)
      .def_rw("waves_per_eu", &AMDGCNOptions::wavesPerEU)
      .def_rw("flush_denormals", &AMDGCNOptions::flushDenormals)
      .def_rw("opt_level", &AMDGCNOptions::optLevel)
      .def_rw("enable_fp_fusion", &AMDGCNOptions::enableFpFusion)
      .def_rw("line_info", &AMDGCNOptions::lineInfo)
      .def_rw("print_ir", &AMDGCNOptions::printIR)
      .def_rw("time_passes", &AMDGCNOptions::timePasses);
  m.def(
      "kernel_info",
      [](PyModule &module) {
        return getKernelInfo(module, triton::amd::getKernelInfo);
      },
      "module"_a, "What the launcher must know about the module's kernel.");
  m.def(
      "translate_to_llvm",
      [](PyModule &module, const AMDGCNOptions &options) {
        return translateToLLVM(module, options, triton::amd::translateToLLVMIR,
                               triton::amd::optimizeLLVM);
      },
      "module"_a, "options"_a,
      "The optimised LLVM IR of a module in the LLVM dialect, as text.");
  m.def("emit_assembly", &emitAssembly, "llvm_ir"_a, "context"_a, "options"_a,
        "The assembly of LLVM IR, given as text.");
  m.def("assemble", &assemble, "assembly"_a, "context"_a, "options"_a,
        "The relocatable object of assembly.");
  m.def(
      "launch_through",
      [](uint64_t address) {
        hipLaunch = reinterpret_cast<decltype(hipLaunch)>(address);
        return reinterpret_cast<uint64_t>(&launchOnHIP);
      },
      "hip_module_launch_kernel"_a,
      "The function that a PackedLaunch calls to launch by that one.");
  m.def("link", &link, "object"_a, "context"_a,
        "The code object, which the run time loads, of an object.");
}

} // namespace tile::python
