//===-- SimBindings.h - Parts of `tile._C.sim` ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_PYTHON_SIMBINDINGS_H
#define TILE_PYTHON_SIMBINDINGS_H

#include <nanobind/nanobind.h>

namespace tile::python {
void populateDebugger(nanobind::module_ &m);
} // namespace tile::python

#endif // TILE_PYTHON_SIMBINDINGS_H
