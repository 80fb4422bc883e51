//===- walk.cpp - IR as programs that analyse kernels walk it -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Methods under the names that compilers built on top of kernels call, beside
// the properties of ir.cpp: they look for the arguments that a kernel writes.
//===----------------------------------------------------------------------===//
#include "Bindings.h"
#include "Handles.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir;

namespace tile::python {

/// Adds a method to a class that is bound elsewhere.
template <typename Class, typename Function>
static void addMethod(const char *name, Function function) {
  nb::handle cls = nb::type<Class>();
  nb::setattr(cls, name,
              nb::cpp_function(function, nb::name(name), nb::scope(cls),
                               nb::is_method()));
}

template <typename AttrT>
static AttrT attributeAs(PyOperation &op, std::string_view name) {
  return op.get()->getAttrOfType<AttrT>(StringRef(name));
}

template <typename Range>
static decltype(auto) at(Range range, unsigned index) {
  if (index >= range.size())
    throw nb::index_error("the operation has fewer of these");
  return range[index];
}

/// The number that an `arith.constant` has, or that all of its elements are;
/// None for other constants and other operations.
static nb::object getConstantValue(PyOperation &self) {
  Attribute value;
  if (!matchPattern(self.get(), m_Constant(&value)))
    return nb::none();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    const APInt &bits = integer.getValue();
    return bits.getBitWidth() == 1 ? nb::cast(bits.getZExtValue())
                                   : nb::cast(bits.getSExtValue());
  }
  if (auto number = dyn_cast<FloatAttr>(value))
    return nb::cast(number.getValueAsDouble());
  return nb::none();
}

static void addOperationMethods() {
  addMethod<PyOperation>("get_name", [](PyOperation &self) {
    return self.get()->getName().getStringRef().str();
  });
  addMethod<PyOperation>("get_num_operands", [](PyOperation &self) {
    return self.get()->getNumOperands();
  });
  addMethod<PyOperation>("get_operand", [](PyOperation &self, unsigned index) {
    return PyValue(at(self.get()->getOperands(), index), self.unit);
  });
  addMethod<PyOperation>("get_num_results", [](PyOperation &self) {
    return self.get()->getNumResults();
  });
  addMethod<PyOperation>("get_result", [](PyOperation &self, unsigned index) {
    return PyValue(at(self.get()->getResults(), index), self.unit);
  });
  addMethod<PyOperation>("get_num_regions", [](PyOperation &self) {
    return self.get()->getNumRegions();
  });
  addMethod<PyOperation>("get_region", [](PyOperation &self, unsigned index) {
    return PyRegion(&at(self.get()->getRegions(), index), self.unit);
  });
  addMethod<PyOperation>("get_block", [](PyOperation &self) -> nb::object {
    Block *block = self.get()->getBlock();
    return block ? nb::cast(PyBlock(block, self.unit)) : nb::none();
  });
  addMethod<PyOperation>(
      "get_str_attr",
      [](PyOperation &self, std::string_view name) -> nb::object {
        auto attr = attributeAs<StringAttr>(self, name);
        return attr ? nb::cast(attr.getValue().str()) : nb::none();
      });
  addMethod<PyOperation>(
      "get_bool_attr",
      [](PyOperation &self, std::string_view name) -> nb::object {
        auto attr = attributeAs<BoolAttr>(self, name);
        return attr ? nb::cast(attr.getValue()) : nb::none();
      });
  addMethod<PyOperation>(
      "get_int_attr",
      [](PyOperation &self, std::string_view name) -> nb::object {
        auto attr = attributeAs<IntegerAttr>(self, name);
        return attr ? nb::cast(attr.getInt()) : nb::none();
      });
  addMethod<PyOperation>(
      "get_flat_symbol_ref_attr",
      [](PyOperation &self, std::string_view name) -> nb::object {
        auto attr = attributeAs<FlatSymbolRefAttr>(self, name);
        return attr ? nb::cast(attr.getValue().str()) : nb::none();
      });
  addMethod<PyOperation>("get_constant_value", getConstantValue);
}

void populateWalk() {
  addMethod<PyModule>("walk", [](PyModule &self, nb::callable callback) {
    // Post-order: what an operation holds comes before it.
    self.unit->module.get()->walk(
        [&](Operation *op) { callback(PyOperation(op, self.unit)); });
  });
  addOperationMethods();
  addMethod<PyRegion>("id", [](PyRegion &self) { return size_t(self.get()); });
  addMethod<PyBlock>("id", [](PyBlock &self) { return size_t(self.get()); });
  addMethod<PyBlock>("get_num_arguments", [](PyBlock &self) {
    return self.get()->getNumArguments();
  });
  addMethod<PyBlock>("get_argument", [](PyBlock &self, unsigned index) {
    return PyValue(at(self.get()->getArguments(), index), self.unit);
  });
  addMethod<PyBlock>("get_parent", [](PyBlock &self) -> nb::object {
    Region *region = self.get()->getParent();
    return region ? nb::cast(PyRegion(region, self.unit)) : nb::none();
  });
  addMethod<PyValue>("id", [](PyValue &self) {
    return size_t(self.get().getAsOpaquePointer());
  });
  addMethod<PyValue>("get_shape", [](PyValue &self) -> nb::object {
    auto type = dyn_cast<ShapedType>(self.get().getType());
    return type && type.hasRank()
               ? nb::cast(std::vector<int64_t>(type.getShape()))
               : nb::none();
  });
}

} // namespace tile::python
