//===-- targets.cpp - `tile._C.targets`: the tables of the backends -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"

#include "tile/Target/TargetRow.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using mlir::triton::TargetRow;

namespace mlir::triton::backends {
#define TILE_BACKEND(name)                                                     \
  namespace name {                                                             \
  std::vector<TargetRow> getTargets();                                         \
  }
#include "tile/Backends.inc"
#undef TILE_BACKEND
} // namespace mlir::triton::backends

static const std::vector<TargetRow> &getRows() {
  static const std::vector<TargetRow> rows = [] {
    std::vector<TargetRow> all;
#define TILE_BACKEND(name)                                                     \
  for (TargetRow &row : mlir::triton::backends::name::getTargets())            \
    all.push_back(std::move(row));
#include "tile/Backends.inc"
#undef TILE_BACKEND
    return all;
  }();
  return rows;
}

void tile::python::populateTargets(nb::module_ &m) {
  nb::class_<TargetRow>(m, "Target",
                        "A target, and what is known of it: an attribute for "
                        "each column of its backend's table.")
      .def("__getattr__",
           [](const TargetRow &row, std::string_view name) {
             for (const auto &[column, fact] : row.facts)
               if (column == name)
                 return fact;
             throw nb::attribute_error(
                 (row.target + " has no fact '" + std::string(name) + "'")
                     .c_str());
           })
      .def("__dir__",
           [](const TargetRow &row) {
             std::vector<std::string> names;
             for (const auto &[column, fact] : row.facts)
               names.push_back(column);
             return names;
           })
      .def("__str__", [](const TargetRow &row) { return row.target; });
  m.def(
      "known",
      [](std::string_view kind) {
        nb::list targets;
        for (const TargetRow &row : getRows())
          if (std::string_view(row.target).substr(0, row.target.find(':')) ==
              kind)
            targets.append(nb::cast(&row, nb::rv_policy::reference));
        return targets;
      },
      "kind"_a, "All targets of a kind such as 'cuda', in the table's order.");
  m.def(
      "lookup",
      [](std::string_view target) -> const TargetRow * {
        for (const TargetRow &row : getRows())
          if (row.target == target)
            return &row;
        return nullptr;
      },
      "target"_a, nb::rv_policy::reference,
      "The target of a name such as 'cuda:90', or None.");
}
