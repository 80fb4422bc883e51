//===-- BuildId.h - What identifies the compiler's machine code ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_BUILDID_H
#define TILE_PYTHON_BUILDID_H

#include <string>

namespace tile::python {

/// The build ids of this module and of the shared libraries of LLVM that it
/// uses. A linker computes them from contents, so that a build has the same on
/// every machine. Empty where there are none.
std::string getBuildId();

} // namespace tile::python

#endif // TILE_PYTHON_BUILDID_H
