//===-- Bindings.h - The subjects of the `tile._C` extension module -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One `populate` function per subject, each in a source file of its own; the
// module file only calls them. This header stays free of MLIR, because the
// simulator's bindings are built without it.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_BINDINGS_H
#define TILE_PYTHON_BINDINGS_H

#include <nanobind/nanobind.h>

namespace tile::python {

/// `tile._C.ir`: Context, Location, Type, Attribute, Module, Operation, ...
void populateContext(nanobind::module_ &m);
void populateTypes(nanobind::module_ &m);
void populateIr(nanobind::module_ &m);
/// More methods of what `populateIr` binds, for programs that walk the IR.
void populateWalk();
/// `tile._C.ir.Builder`: what the Python front end creates operations with.
void populateBuilder(nanobind::module_ &m);
/// `tile._C.passes`: PassManager.
void populatePasses(nanobind::module_ &m);
/// More of it: plugins with passes and dialects.
void populatePlugins(nanobind::module_ &m);
/// `tile._C.targets`: the table of the GPUs that kernels are compiled for.
void populateTargets(nanobind::module_ &m);
/// What backends bind, third_party/<name>/python: each adds its modules to
/// `tile._C` itself.
#define TILE_BACKEND(name)                                                     \
  namespace backends::name {                                                   \
  void populate(nanobind::module_ &root);                                      \
  }
#include "tile/PythonBackends.inc"
#undef TILE_BACKEND
/// `tile._C.layout`: linear layouts.
void populateLayout(nanobind::module_ &m);
/// More of it: what operations make of layouts.
void populateLayoutInference(nanobind::module_ &m);
/// `tile._C.sim`: the PTX simulator.
void populateSim(nanobind::module_ &m);
/// `tile._C.launch`: the hot path of a kernel launch.
void populateCupti(nanobind::module_ &m);
void populateLaunch(nanobind::module_ &m);

} // namespace tile::python

#endif // TILE_PYTHON_BINDINGS_H
