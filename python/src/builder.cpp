//===-- builder.cpp - Creating operations from Python ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One generic entry, `create`, makes every operation: result types are
// inferred here by the operation's own interface, so Python repeats no rule.
//===----------------------------------------------------------------------===//

#include "Builder.h"
#include "Bindings.h"
#include "Diagnostics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/ScopeExit.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

/// Fills `state.types` by asking the operation's InferTypeOpInterface.
static LogicalResult inferTypes(OperationState &state) {
  std::optional<RegisteredOperationName> info = state.name.getRegisteredInfo();
  auto *interface = info ? info->getInterface<InferTypeOpInterface>() : nullptr;
  if (!interface)
    return success(); // No results, or the verifier will say what is missing.
  DictionaryAttr attributes =
      state.attributes.getDictionary(state.getContext());
  // Inference reads inherent attributes from the properties, which exist only
  // once the operation does: build a temporary set.
  int size = info->getOpPropertyByteSize();
  std::unique_ptr<char[]> storage;
  OpaqueProperties properties(nullptr);
  if (size > 0) {
    storage = std::make_unique<char[]>(size);
    properties = OpaqueProperties(storage.get());
    info->initOpProperties(properties, OpaqueProperties(nullptr));
  }
  llvm::scope_exit cleanup([&] {
    if (size > 0)
      info->destroyOpProperties(properties);
  });
  if (size > 0 && failed(info->setOpPropertiesFromAttribute(
                      state.name, properties, attributes,
                      [&] { return mlir::emitError(state.location); })))
    return failure();
  return interface->inferReturnTypes(state.getContext(), state.location,
                                     state.operands, attributes, properties,
                                     state.regions, state.types);
}

Operation *PyBuilder::create(std::string_view name, nb::handle operands,
                             nb::handle attributes, nb::handle resultTypes,
                             nb::handle regions) {
  // Dialects load when their first operation is made.
  if (!RegisteredOperationName::lookup(StringRef(name), context()))
    context()->getOrLoadDialect(StringRef(name).split('.').first);
  OperationState state(loc, StringRef(name));
  if (!state.name.isRegistered() && !context()->allowsUnregisteredDialects())
    throw nb::value_error(
        ("unknown operation '" + std::string(name) + "'").c_str());
  for (nb::handle operand : operands) {
    auto &value = nb::cast<PyValue &>(operand);
    if (value.unit != unit)
      throw nb::value_error("an operand belongs to another module");
    state.operands.push_back(value.get());
  }
  if (!attributes.is_none())
    for (auto [key, value] : nb::borrow<nb::dict>(attributes))
      state.addAttribute(nb::cast<const char *>(key),
                         nb::cast<PyAttribute &>(value).attr);
  for (nb::handle region : regions) {
    std::unique_ptr<Region> body =
        unit->takeRegion(nb::cast<PyRegion &>(region).get());
    if (!body)
      throw nb::value_error("a region is already part of an operation");
    // The blocks move, so that handles on them stay good.
    state.addRegion()->takeBody(*body);
  }
  DiagnosticCollector diagnostics(context());
  if (resultTypes.is_none()) {
    if (failed(inferTypes(state)))
      diagnostics.raise("cannot infer the result types");
  } else {
    for (nb::handle type : resultTypes)
      state.types.push_back(nb::cast<PyType &>(type).type);
  }
  if (auto info = state.name.getRegisteredInfo();
      info && info->getOpPropertyByteSize() > 0) {
    // Operation::create would assert on a malformed inherent attribute.
    DictionaryAttr dictionary = state.attributes.getDictionary(context());
    std::unique_ptr<char[]> storage =
        std::make_unique<char[]>(info->getOpPropertyByteSize());
    OpaqueProperties properties(storage.get());
    info->initOpProperties(properties, OpaqueProperties(nullptr));
    LogicalResult valid = info->setOpPropertiesFromAttribute(
        state.name, properties, dictionary,
        [&] { return mlir::emitError(loc); });
    info->destroyOpProperties(properties);
    if (failed(valid))
      diagnostics.raise("an attribute of the operation is malformed");
  }
  return builder.create(state);
}

/// A constant of an integer, index or float type, or a tensor of one.
static Value createConstant(PyBuilder &self, Type type, nb::handle value) {
  Type scalar = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (auto floating = dyn_cast<FloatType>(scalar)) {
    attr = FloatAttr::get(floating, nb::cast<double>(value));
  } else if (scalar.isIntOrIndex()) {
    unsigned width = scalar.isIndex() ? 64 : scalar.getIntOrFloatBitWidth();
    if (width > 64)
      throw nb::value_error("integer constants have at most 64 bits");
    // Python hands over any integer; only its low bits matter here.
    auto bits = nb::cast<uint64_t>(nb::borrow(value) & nb::int_(~uint64_t(0)));
    attr = IntegerAttr::get(
        scalar, APInt(width, bits, /*isSigned=*/false, /*implicitTrunc=*/true));
  } else {
    throw nb::type_error("constants are integers or floats");
  }
  // It may be the first operation that the context sees.
  self.context()->getOrLoadDialect<arith::ArithDialect>();
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(attr));
  return arith::ConstantOp::create(self.builder, self.loc, attr);
}

static void populateCreation(nb::class_<PyBuilder> &cls) {
  auto none = nb::none();
  nb::tuple empty;
  cls.def(
         "create",
         [](PyBuilder &self, std::string_view name, nb::handle operands,
            nb::handle attributes, nb::handle types, nb::handle regions) {
           Operation *op =
               self.create(name, operands, attributes, types, regions);
           nb::list results;
           for (Value result : op->getResults())
             results.append(PyValue(result, self.unit));
           return results;
         },
         "name"_a, "operands"_a = empty, "attributes"_a = none,
         "result_types"_a = none, "regions"_a = empty,
         "Creates an operation and returns its results.")
      .def(
          "create_one",
          [](PyBuilder &self, std::string_view name, nb::handle operands,
             nb::handle attributes, nb::handle types, nb::handle regions) {
            Operation *op =
                self.create(name, operands, attributes, types, regions);
            if (op->getNumResults() != 1)
              throw nb::value_error("the operation does not have one result");
            return PyValue(op->getResult(0), self.unit);
          },
          "name"_a, "operands"_a = empty, "attributes"_a = none,
          "result_types"_a = none, "regions"_a = empty,
          "Creates an operation and returns its only result.")
      .def(
          "create_op",
          [](PyBuilder &self, std::string_view name, nb::handle operands,
             nb::handle attributes, nb::handle types, nb::handle regions) {
            return PyOperation(
                self.create(name, operands, attributes, types, regions),
                self.unit);
          },
          "name"_a, "operands"_a = empty, "attributes"_a = none,
          "result_types"_a = none, "regions"_a = empty,
          "Creates an operation and returns it.")
      .def("constant",
           [](PyBuilder &self, PyType &type, nb::handle value) {
             return PyValue(createConstant(self, type.type, value), self.unit);
           })
      .def(
          "region",
          [](PyBuilder &self, std::vector<PyType> types) {
            Region *region = self.unit->createRegion();
            Block &block = region->emplaceBlock();
            for (PyType &type : types)
              block.addArgument(type.type, self.loc);
            return PyRegion(region, self.unit);
          },
          "argument_types"_a = std::vector<PyType>(),
          "A region with an entry block, for an operation created later.")
      .def(
          "add_argument",
          [](PyBuilder &self, PyBlock &block, PyType &type) {
            return PyValue(block.get()->addArgument(type.type, self.loc),
                           self.unit);
          },
          "block"_a, "type"_a, "Adds an argument to a block.");
}

void populateBuilder(nb::module_ &m) {
  nb::class_<PyBuilder> cls(m, "Builder",
                            "Creates types, attributes and operations.");
  cls.def("__init__",
          [](PyBuilder *self, PyModule &module) {
            new (self) PyBuilder(module.unit);
          })
      .def_prop_ro(
          "context",
          [](PyBuilder &self) { return PyContext{self.unit->context}; })
      .def_prop_rw(
          "loc",
          [](PyBuilder &self) {
            return PyLocation{self.loc, self.unit->context};
          },
          [](PyBuilder &self, PyLocation &loc) { self.loc = loc.loc; })
      .def("set_loc",
           [](PyBuilder &self, std::string_view file, unsigned line,
              unsigned column) {
             self.loc = FileLineColLoc::get(self.context(), file, line, column);
             if (!self.callers.empty())
               self.loc = CallSiteLoc::get(self.loc, self.callers.back());
           })
      .def(
          "push_call",
          [](PyBuilder &self) { self.callers.push_back(self.loc); },
          "Until pop_call, set_loc means a place in a function called here.")
      .def("pop_call",
           [](PyBuilder &self) {
             if (self.callers.empty())
               throw nb::value_error("pop_call without push_call");
             self.loc = self.callers.pop_back_val();
           })
      .def_prop_rw(
          "insertion_point",
          [](PyBuilder &self) {
            Block *block = self.builder.getInsertionBlock();
            auto point = self.builder.getInsertionPoint();
            return PyInsertionPoint(
                block, point == block->end() ? nullptr : &*point, self.unit);
          },
          [](PyBuilder &self, PyInsertionPoint &point) {
            Block *block = point.get();
            if (point.before)
              self.builder.setInsertionPoint(point.before);
            else
              self.builder.setInsertionPointToEnd(block);
          })
      .def("insert_at_end", [](PyBuilder &self, PyBlock &block) {
        self.builder.setInsertionPointToEnd(block.get());
      });
  populateTypeConstructors(cls);
  populateAttrConstructors(cls);
  populateCreation(cls);
}

} // namespace tile::python
