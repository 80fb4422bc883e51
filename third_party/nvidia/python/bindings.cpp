//===-- bindings.cpp - `tile._C.llvm`: code for NVIDIA GPUs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "CodeGeneration.h"

#include "nvidia/Occupancy.h"
#include "nvidia/Target/PTX.h"
#include "nvidia/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

static nb::dict getKernelInfoWithMaps(PyModule &module) {
  nb::dict result = getKernelInfo(module, triton::nvidia::getKernelInfo);
  nb::list maps;
  for (const triton::nvidia::TensorMapParameter &map :
       triton::nvidia::getTensorMaps(module.unit->module.get())) {
    nb::dict facts;
    facts["base"] = map.base;
    facts["element_type"] = map.elementType;
    facts["element_bytes"] = map.elementBytes;
    facts["swizzle"] = map.swizzle;
    facts["box"] = map.box;
    if (map.pixels)
      facts["pixels"] = true;
    if (!map.parts.empty()) {
      nb::list code;
      for (size_t i = 0; i + 2 < map.code.size(); i += 3)
        code.append(
            nb::make_tuple(map.code[i], map.code[i + 1], map.code[i + 2]));
      facts["code"] = code;
      facts["parts"] = map.parts;
    }
    maps.append(facts);
  }
  result["tensor_maps"] = maps;
  return result;
}

/// How many blocks a multiprocessor has each resource for, by its name.
static nb::dict getBlockLimits(int computeCapability, int64_t registers,
                               int64_t warps, int64_t sharedBytes,
                               int64_t tensorMemoryColumns) {
  const triton::NVIDIATarget *target =
      triton::lookupNVIDIATarget(computeCapability);
  if (!target)
    throw nb::value_error("unknown compute capability");
  triton::nvidia::BlockLimits limits = triton::nvidia::getBlockLimits(
      *target, {registers, warps, sharedBytes, tensorMemoryColumns});
  nb::dict result;
  result["registers"] = limits.registers;
  result["threads"] = limits.threads;
  result["shared memory"] = limits.sharedMemory;
  result["blocks"] = limits.blocks;
  if (tensorMemoryColumns)
    result["tensor memory"] = limits.tensorMemory;
  return result;
}

/// Code generation alone, from the text of (optimised) LLVM IR.
static std::string emitPTXFromLLVM(const std::string &text, PyContext &context,
                                   const triton::nvidia::PTXOptions &options,
                                   bool optimize) {
  DiagnosticCollector diagnostics(context.ref.get());
  triton::LLVMOwner<llvm::LLVMContext> llvmContext(new llvm::LLVMContext);
  triton::LLVMOwner<llvm::Module> module = parseLLVMIR(text, *llvmContext);
  OwningOpRef<ModuleOp> place(
      ModuleOp::create(UnknownLoc::get(context.ref.get())));
  if (optimize)
    diagnostics.check(triton::nvidia::optimizeLLVM(*place, *module, options),
                      "the optimisation of the LLVM IR failed");
  FailureOr<std::string> ptx =
      triton::nvidia::emitPTX(*place, *module, options);
  diagnostics.check(ptx, "the generation of PTX failed");
  return *ptx;
}

void backends::nvidia::populate(nb::module_ &root) {
  auto m = root.def_submodule("llvm", "LLVM IR, optimisation and PTX.");
  nb::class_<triton::nvidia::PTXOptions>(
      m, "PTXOptions", "How LLVM IR is optimised and PTX emitted.")
      .def(nb::init<>())
      .def_rw("compute_capability",
              &triton::nvidia::PTXOptions::computeCapability)
      .def_rw("ptx_version", &triton::nvidia::PTXOptions::ptxVersion)
      .def_rw("opt_level", &triton::nvidia::PTXOptions::optLevel)
      .def_rw("enable_fp_fusion", &triton::nvidia::PTXOptions::enableFpFusion)
      .def_rw("enable_reflect_ftz",
              &triton::nvidia::PTXOptions::enableReflectFtz)
      .def_rw("line_info", &triton::nvidia::PTXOptions::lineInfo)
      .def_rw("print_ir", &triton::nvidia::PTXOptions::printIR)
      .def_rw("time_passes", &triton::nvidia::PTXOptions::timePasses)
      .def_rw("libdevice_path", &triton::nvidia::PTXOptions::libdevicePath)
      .def_rw("libraries", &triton::nvidia::PTXOptions::libraries);
  m.def("kernel_info", &getKernelInfoWithMaps, "module"_a,
        "What the launcher must know about the module's kernel.");
  m.def("block_limits", &getBlockLimits, "compute_capability"_a, "registers"_a,
        "warps"_a, "shared"_a, "columns"_a = 0,
        "How many blocks a multiprocessor has each resource for.");
  m.def(
      "registers_for_more_blocks",
      [](int64_t registers, unsigned numWarps) {
        using triton::gpu::RegisterPurpose;
        return triton::gpu::getRegisterShare(RegisterPurpose::MoreBlocks,
                                             registers, numWarps);
      },
      "registers"_a, "num_warps"_a,
      "What a thread must have more than, for which ptxas takes `registers`, "
      "where more blocks reside with fewer.");
  m.def(
      "translate_to_llvm",
      [](PyModule &module, const triton::nvidia::PTXOptions &options) {
        return translateToLLVM(module, options,
                               triton::nvidia::translateToLLVMIR,
                               triton::nvidia::optimizeLLVM);
      },
      "module"_a, "options"_a,
      "The optimised LLVM IR of a module in the LLVM dialect, as text.");
  m.def("emit_ptx", &emitPTXFromLLVM, "llvm_ir"_a, "context"_a, "options"_a,
        "optimize"_a = false, "The PTX of LLVM IR, given as text.");
}

} // namespace tile::python
