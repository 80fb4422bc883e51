//===-- constructors.cpp - Types and attributes for the builder -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Builder.h"
#include "Diagnostics.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

using namespace mlir;

namespace tile::python {

void populateTypeConstructors(nb::class_<PyBuilder> &cls) {
  cls.def("int_type",
          [](PyBuilder &self, unsigned width) {
            return self.wrap(IntegerType::get(self.context(), width));
          })
      .def("tensor_type",
           [](PyBuilder &self, std::vector<int64_t> shape, PyType &element) {
             return self.wrap(RankedTensorType::get(shape, element.type));
           })
      .def("function_type", [](PyBuilder &self, std::vector<PyType> inputs,
                               std::vector<PyType> results) {
        SmallVector<Type> in, out;
        for (PyType &type : inputs)
          in.push_back(type.type);
        for (PyType &type : results)
          out.push_back(type.type);
        return self.wrap(FunctionType::get(self.context(), in, out));
      });
}

void populateAttrConstructors(nb::class_<PyBuilder> &cls) {
  cls.def("int_attr",
          [](PyBuilder &self, unsigned width, int64_t value) {
            return self.wrap(self.builder.getIntegerAttr(
                IntegerType::get(self.context(), width),
                APInt(width, uint64_t(value), true, true)));
          })
      .def("bool_attr",
           [](PyBuilder &self, bool value) {
             return self.wrap(self.builder.getBoolAttr(value));
           })
      .def("float_attr",
           [](PyBuilder &self, PyType &type, double value) {
             if (!isa<FloatType>(type.type))
               throw nb::type_error("float_attr takes a float type");
             return self.wrap(self.builder.getFloatAttr(type.type, value));
           })
      .def("str_attr",
           [](PyBuilder &self, std::string_view value) {
             return self.wrap(self.builder.getStringAttr(StringRef(value)));
           })
      .def("symbol_attr",
           [](PyBuilder &self, std::string_view value) {
             return self.wrap(Attribute(
                 FlatSymbolRefAttr::get(self.context(), StringRef(value))));
           })
      .def(
          "unit_attr",
          [](PyBuilder &self) { return self.wrap(self.builder.getUnitAttr()); })
      .def("type_attr",
           [](PyBuilder &self, PyType &type) {
             return self.wrap(Attribute(TypeAttr::get(type.type)));
           })
      .def("array_attr",
           [](PyBuilder &self, std::vector<PyAttribute> values) {
             SmallVector<Attribute> attrs;
             for (PyAttribute &value : values)
               attrs.push_back(value.attr);
             return self.wrap(self.builder.getArrayAttr(attrs));
           })
      .def("dict_attr",
           [](PyBuilder &self, nb::dict values) {
             NamedAttrList list;
             for (auto [key, value] : values)
               list.set(nb::cast<const char *>(key),
                        nb::cast<PyAttribute &>(value).attr);
             return self.wrap(list.getDictionary(self.context()));
           })
      .def("i32_array_attr",
           [](PyBuilder &self, std::vector<int32_t> values) {
             return self.wrap(self.builder.getDenseI32ArrayAttr(values));
           })
      .def("parse_attr",
           [](PyBuilder &self, std::string_view text) {
             DiagnosticCollector diagnostics(self.context());
             Attribute attr = parseAttribute(text, self.context());
             if (!attr)
               diagnostics.raise("cannot parse the attribute");
             return self.wrap(attr);
           })
      // An `array` of Python integers as the elements of `tensor<Nxi32>`.
      .def("dense_i32_attr", [](PyBuilder &self, std::vector<int32_t> values) {
        return self.wrap(self.builder.getI32TensorAttr(values));
      });
}

} // namespace tile::python
