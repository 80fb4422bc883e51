//===-- types.cpp - Type and Attribute ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

template <typename T> static std::string print(const T &object) {
  std::string text;
  llvm::raw_string_ostream os(text);
  object.print(os);
  return text;
}

/// The Python value of a builtin attribute that has one; else the attribute.
static nb::object getValue(const PyAttribute &self) {
  Attribute attr = self.attr;
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return nb::bool_(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    // Signless integers read as signed ones, which is how they print.
    if (integer.getType().isUnsignedInteger())
      return nb::int_(integer.getValue().getZExtValue());
    return nb::int_(integer.getValue().getSExtValue());
  }
  if (auto number = dyn_cast<FloatAttr>(attr))
    return nb::float_(number.getValueAsDouble());
  if (auto string = dyn_cast<StringAttr>(attr))
    return nb::str(string.getValue().data(), string.getValue().size());
  if (auto type = dyn_cast<TypeAttr>(attr))
    return nb::cast(PyType{type.getValue(), self.context});
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    nb::list result;
    for (Attribute element : array)
      result.append(getValue({element, self.context}));
    return result;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    nb::dict result;
    for (NamedAttribute entry : dictionary)
      result[nb::str(entry.getName().data(), entry.getName().size())] =
          getValue({entry.getValue(), self.context});
    return result;
  }
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr)) {
    nb::list result;
    for (int32_t element : array.asArrayRef())
      result.append(nb::int_(element));
    return result;
  }
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr)) {
    nb::list result;
    for (int64_t element : array.asArrayRef())
      result.append(nb::int_(element));
    return result;
  }
  return nb::cast(self);
}

void populateTypes(nb::module_ &m) {
  nb::class_<PyType>(m, "Type", "An MLIR type.")
      .def_static(
          "parse",
          [](std::string_view text, PyContext &context) {
            DiagnosticCollector diagnostics(context.ref.get());
            Type type = parseType(text, context.ref.get());
            if (!type)
              diagnostics.raise("cannot parse the type");
            return PyType{type, context.ref};
          },
          "asm"_a, "context"_a)
      .def_prop_ro("shape",
                   [](PyType &self) {
                     auto shaped = dyn_cast<ShapedType>(self.type);
                     if (!shaped || !shaped.hasRank())
                       throw nb::value_error("not a ranked shaped type");
                     return std::vector<int64_t>(shaped.getShape().begin(),
                                                 shaped.getShape().end());
                   })
      .def_prop_ro("element_type",
                   [](PyType &self) {
                     auto shaped = dyn_cast<ShapedType>(self.type);
                     if (!shaped)
                       throw nb::value_error("not a shaped type");
                     return PyType{shaped.getElementType(), self.context};
                   })
      .def(
          "__eq__",
          [](PyType &self, PyType &other) { return self.type == other.type; },
          nb::is_operator())
      .def("__hash__",
           [](PyType &self) { return size_t(hash_value(self.type)); })
      .def("__str__", [](PyType &self) { return print(self.type); })
      .def("__repr__",
           [](PyType &self) { return "Type(" + print(self.type) + ")"; });

  nb::class_<PyAttribute>(m, "Attribute", "An MLIR attribute.")
      .def_static(
          "parse",
          [](std::string_view text, PyContext &context) {
            DiagnosticCollector diagnostics(context.ref.get());
            Attribute attr = parseAttribute(text, context.ref.get());
            if (!attr)
              diagnostics.raise("cannot parse the attribute");
            return PyAttribute{attr, context.ref};
          },
          "asm"_a, "context"_a)
      .def_prop_ro("value", &getValue)
      .def(
          "__eq__",
          [](PyAttribute &self, PyAttribute &other) {
            return self.attr == other.attr;
          },
          nb::is_operator())
      .def("__hash__",
           [](PyAttribute &self) { return size_t(hash_value(self.attr)); })
      .def("__str__", [](PyAttribute &self) { return print(self.attr); })
      .def("__repr__", [](PyAttribute &self) {
        return "Attribute(" + print(self.attr) + ")";
      });
}

} // namespace tile::python
