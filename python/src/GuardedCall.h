//===-- GuardedCall.h - Calls that are in no traceback ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_GUARDEDCALL_H
#define TILE_PYTHON_GUARDEDCALL_H

#include <nanobind/nanobind.h>

namespace tile::python {

/// `tile._C.launch.GuardedCall`.
void populateGuardedCall(nanobind::module_ &m);

} // namespace tile::python

#endif // TILE_PYTHON_GUARDEDCALL_H
