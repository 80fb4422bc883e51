//===-- Handles.h - What Python holds of MLIR -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and attributes live as long as their context, so their handles hold
// the context. Operations, blocks, regions and values live in an IRUnit (a
// module and the regions under construction for it): their handles hold the
// unit and the generation they were taken in. Whatever may erase operations
// (a pass, an erase) starts a new generation, after which an old handle raises
// instead of pointing at freed memory.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_HANDLES_H
#define TILE_PYTHON_HANDLES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Types.h"

#include <memory>
#include <stdexcept>

namespace tile::python {

using ContextRef = std::shared_ptr<mlir::MLIRContext>;

/// Makes a context that knows every dialect of ours (registered, not loaded).
ContextRef createContext(bool threading);

struct PyContext {
  ContextRef ref;
};

struct PyLocation {
  mlir::Location loc;
  ContextRef context;
};

struct PyType {
  mlir::Type type;
  ContextRef context;
};

struct PyAttribute {
  mlir::Attribute attr;
  ContextRef context;
};

/// A module and the regions that are being built for it.
struct IRUnit {
  ContextRef context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::unique_ptr<mlir::Region>> detached;
  unsigned generation = 0;

  IRUnit(ContextRef context, mlir::ModuleOp module)
      : context(std::move(context)), module(module) {}
  ~IRUnit() {
    // Detached regions refer to values of the module and of one another.
    for (auto &region : detached)
      region->dropAllReferences();
    detached.clear();
  }

  mlir::Region *createRegion() {
    detached.push_back(std::make_unique<mlir::Region>());
    return detached.back().get();
  }
  std::unique_ptr<mlir::Region> takeRegion(mlir::Region *region) {
    for (auto it = detached.rbegin(); it != detached.rend(); ++it) {
      if (it->get() != region)
        continue;
      std::unique_ptr<mlir::Region> taken = std::move(*it);
      detached.erase(std::next(it).base());
      return taken;
    }
    return nullptr;
  }
};
using UnitRef = std::shared_ptr<IRUnit>;

/// A handle on something inside a unit.
template <typename T> struct UnitHandle {
  T object;
  UnitRef unit;
  unsigned generation;

  UnitHandle(T object, const UnitRef &unit)
      : object(object), unit(unit), generation(unit->generation) {}

  T get() const {
    if (generation != unit->generation)
      throw std::runtime_error(
          "this IR object is stale: its module was changed by a pass or an "
          "erase after the object was taken");
    return object;
  }
};

struct PyOperation : UnitHandle<mlir::Operation *> {
  using UnitHandle::UnitHandle;
};
struct PyBlock : UnitHandle<mlir::Block *> {
  using UnitHandle::UnitHandle;
};
struct PyRegion : UnitHandle<mlir::Region *> {
  using UnitHandle::UnitHandle;
};
struct PyValue : UnitHandle<mlir::Value> {
  using UnitHandle::UnitHandle;
};
/// Before `before`, or at the end of `object` when that is null.
struct PyInsertionPoint : UnitHandle<mlir::Block *> {
  mlir::Operation *before;
  PyInsertionPoint(mlir::Block *block, mlir::Operation *before,
                   const UnitRef &unit)
      : UnitHandle(block, unit), before(before) {}
};

struct PyModule {
  UnitRef unit;
};

} // namespace tile::python

#endif // TILE_PYTHON_HANDLES_H
