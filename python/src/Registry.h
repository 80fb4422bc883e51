//===-- Registry.h - What a context and a pass manager know -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_REGISTRY_H
#define TILE_PYTHON_REGISTRY_H

namespace mlir {
class DialectRegistry;
}

namespace tile::python {

/// The dialects of contexts that are made from now on.
mlir::DialectRegistry &getDialectRegistry();

/// Makes tile's passes and pipelines known, once.
void registerPasses();

} // namespace tile::python

#endif // TILE_PYTHON_REGISTRY_H
