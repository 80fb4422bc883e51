//===-- shared_by_threads.cpp - What threads of a program share -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module of the run time and the simulator alone, for ThreadSanitizer.
//===----------------------------------------------------------------------===//

#include "Bindings.h"

namespace nb = nanobind;
using namespace tile::python;

NB_MODULE(tile_shared_by_threads, m) {
  nb::set_leak_warnings(false);
  auto sim = m.def_submodule("sim", "The simulator.");
  populateSim(sim);
  auto launch = m.def_submodule("launch", "The hot path of a kernel launch.");
  populateLaunch(launch);
}
