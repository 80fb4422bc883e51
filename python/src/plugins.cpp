//===-- plugins.cpp - Passes and dialects of other people -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plugin takes MLIR from the shared library that this module takes it from,
// and tile's dialects from this module. A wheel has both inside itself, without
// their names: it takes no plugins.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Diagnostics.h"
#include "Registry.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <dlfcn.h>

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

#ifdef TILE_PLUGINS
/// Lets the names of this module be found by what is loaded next. Python loads
/// modules so that they are not.
static void shareNames() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&shareNames), &info) ||
      !dlopen(info.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD))
    throw MLIRError{"plugins cannot see the names of tile's module", {}};
}

template <typename PluginT> static PluginT loadAs(const std::string &path) {
  llvm::Expected<PluginT> plugin = PluginT::load(path);
  if (!plugin)
    throw MLIRError{llvm::toString(plugin.takeError()), {}};
  return *plugin;
}

static void loadPlugin(const std::string &path) {
  shareNames();
  std::string error;
  llvm::sys::DynamicLibrary library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &error);
  if (!library.isValid())
    throw MLIRError{"cannot load the plugin: " + error, {}};
  bool hasPasses = library.getAddressOfSymbol("mlirGetPassPluginInfo");
  bool hasDialects = library.getAddressOfSymbol("mlirGetDialectPluginInfo");
  if (!hasPasses && !hasDialects)
    throw MLIRError{path + " is no plugin: it has neither "
                           "mlirGetPassPluginInfo nor mlirGetDialectPluginInfo",
                    {}};
  registerPasses();
  if (hasDialects)
    loadAs<DialectPlugin>(path).registerDialectRegistryCallbacks(
        getDialectRegistry());
  if (hasPasses)
    loadAs<PassPlugin>(path).registerPassRegistryCallbacks();
}
#else
static void loadPlugin(const std::string &) {
  throw MLIRError{"this build of tile has MLIR inside, and takes no plugins: "
                  "use one that shares libMLIR (make build)",
                  {}};
}
#endif

void populatePlugins(nb::module_ &m) {
  m.def("load_plugin", &loadPlugin, "path"_a,
        "Loads a library with passes, dialects, or both. Contexts that are "
        "made from now on have its dialects.");
}

} // namespace tile::python
