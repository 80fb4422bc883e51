//===-- targets.cpp - `tile._C.targets`: the table of GPUs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The columns that Python has a use for; the others are added when it has one.
//===----------------------------------------------------------------------===//

#include "Bindings.h"

#include "tile/Target/TargetTable.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;
using mlir::triton::NVIDIATarget;

void tile::python::populateTargets(nb::module_ &m) {
  nb::class_<NVIDIATarget>(m, "NVIDIATarget", "A row of the table of GPUs.")
      .def_ro("compute_capability", &NVIDIATarget::computeCapability)
      .def_ro("max_shared_memory", &NVIDIATarget::maxSharedMemory,
              "Bytes of shared memory that a block may have.")
      .def_ro("max_registers_per_thread", &NVIDIATarget::maxRegistersPerThread)
      .def_ro("registers_per_sm", &NVIDIATarget::registersPerSM,
              "Registers of 32 bits that a multiprocessor has.")
      .def_ro("register_allocation_unit", &NVIDIATarget::registerAllocationUnit,
              "What the registers of a thread are rounded up to.")
      .def_ro("has_native_fp8_cvt", &NVIDIATarget::hasNativeFP8Cvt)
      .def_ro("has_clusters", &NVIDIATarget::hasClusters)
      .def_ro("has_wgmma", &NVIDIATarget::hasWGMMA)
      .def("__str__", &NVIDIATarget::targetString);
  m.def(
      "nvidia_targets",
      [] {
        nb::list targets;
        for (const NVIDIATarget &target : mlir::triton::getNVIDIATargets())
          targets.append(nb::cast(&target, nb::rv_policy::reference));
        return targets;
      },
      "All rows, by increasing compute capability.");
  m.def("lookup_nvidia_target", &mlir::triton::lookupNVIDIATarget,
        "compute_capability"_a, nb::rv_policy::reference,
        "The row of a compute capability such as 90, or None.");
}
