//===-- Builder.h - The builder that Python creates operations with -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_BUILDER_H
#define TILE_PYTHON_BUILDER_H

#include "Handles.h"

#include "mlir/IR/Builders.h"

#include <nanobind/nanobind.h>

namespace tile::python {
namespace nb = nanobind;

struct PyBuilder {
  UnitRef unit;
  mlir::OpBuilder builder;
  mlir::Location loc;
  /// Where the functions being inlined were called, outermost first. Each is
  /// complete: it has the callers before it in it.
  llvm::SmallVector<mlir::Location> callers;

  explicit PyBuilder(const UnitRef &unit)
      : unit(unit), builder(unit->context.get()),
        loc(mlir::UnknownLoc::get(unit->context.get())) {
    builder.setInsertionPointToEnd(unit->module->getBody());
  }

  mlir::MLIRContext *context() const { return unit->context.get(); }
  PyType wrap(mlir::Type type) const { return {type, unit->context}; }
  PyAttribute wrap(mlir::Attribute attr) const { return {attr, unit->context}; }

  mlir::Operation *create(std::string_view name, nb::handle operands,
                          nb::handle attributes, nb::handle resultTypes,
                          nb::handle regions);
};

/// Cheap constructors of types and of attributes, as methods of the builder.
void populateTypeConstructors(nb::class_<PyBuilder> &cls);
void populateAttrConstructors(nb::class_<PyBuilder> &cls);

} // namespace tile::python

#endif // TILE_PYTHON_BUILDER_H
