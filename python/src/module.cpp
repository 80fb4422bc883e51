//===-- module.cpp - The `tile._C` extension module -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "BuildId.h"

#include <atomic>

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace tile::python;

/// The interpreter that has loaded the module; none is -1. The bound types, and
/// what the launch path keeps, belong to it: another one of the process would
/// replace them, and take them along when it ends.
static std::atomic<int64_t> owner = -1;

static int64_t getInterpreter() {
  return PyInterpreterState_GetID(PyInterpreterState_Get());
}

NB_MODULE(core, m) {
  owner = getInterpreter();
  m.doc() = "The compiler core of tile: MLIR, passes, code generation, layouts "
            "and the simulator.";
  // A compile may be cut short by an exception whose traceback keeps handles
  // alive until the interpreter exits; that is no leak worth a report.
  nb::set_leak_warnings(false);

  m.def("build_id", &getBuildId,
        "What the linker calls the contents of this module and of the "
        "libraries of LLVM that it uses; empty where linkers do not.");

  auto ir = m.def_submodule("ir", "MLIR objects, named as upstream `mlir.ir`.");
  populateContext(ir);
  populateTypes(ir);
  populateIr(ir);
  populateWalk();
  populateBuilder(ir);
  auto passes = m.def_submodule("passes", "Pass pipelines.");
  populatePasses(passes);
  populatePlugins(passes);
  auto targets = m.def_submodule("targets", "Facts about machines.");
  populateTargets(targets);
#define TILE_BACKEND(name) backends::name::populate(m);
#include "tile/PythonBackends.inc"
#undef TILE_BACKEND
  auto layout = m.def_submodule("layout", "Linear layouts.");
  populateLayout(layout);
  populateLayoutInference(layout);
  auto sim = m.def_submodule("sim", "The PTX simulator.");
  populateSim(sim);
  auto launch = m.def_submodule("launch", "The hot path of a kernel launch.");
  populateLaunch(launch);
  auto cupti = m.def_submodule("cupti", "Records of kernels on NVIDIA GPUs.");
  populateCupti(cupti);
}

/// What Python calls first in each interpreter that imports `tile._C`; before
/// the bindings, whose start forgets the types of another interpreter.
extern "C" NB_EXPORT PyObject *PyInit__C() {
  if (owner != -1 && owner != getInterpreter()) {
    PyErr_SetString(PyExc_ImportError,
                    "tile is in use in another interpreter of this process, "
                    "and works in one of them; start a process for this one");
    return nullptr;
  }
  return PyInit_core();
}
