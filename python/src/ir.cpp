//===-- ir.cpp - Module, Operation, Block, Region and Value ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

static std::string printOperation(Operation *op, bool debugInfo, bool nameLocs,
                                  bool generic) {
  OpPrintingFlags flags;
  if (debugInfo)
    flags.enableDebugInfo();
  if (generic)
    flags.printGenericOpForm();
  flags.printNameLocAsPrefix(nameLocs);
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, flags);
  if (isa<ModuleOp>(op))
    os << '\n';
  return text;
}

static PyModule parseModule(std::string_view text, PyContext &context,
                            const std::string &filename) {
  // The parser reports into the source manager's diagnostics, which carry the
  // position in the text; the collector above it keeps stderr quiet.
  MLIRContext *ctx = context.ref.get();
  DiagnosticCollector diagnostics(ctx);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text), filename), {});
  ParserConfig config(ctx);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    diagnostics.raise("cannot parse the module");
  return {std::make_shared<IRUnit>(context.ref, module.release())};
}

static void verifyOperation(Operation *op) {
  DiagnosticCollector diagnostics(op->getContext());
  if (failed(verify(op)))
    diagnostics.raise("the IR does not verify");
}

static nb::object attributeOf(Operation *op, std::string_view name,
                              const UnitRef &unit) {
  Attribute attr = op->getAttr(StringRef(name));
  if (!attr)
    return nb::none();
  return nb::cast(PyAttribute{attr, unit->context});
}

static nb::list valuesOf(ValueRange values, const UnitRef &unit) {
  nb::list result;
  for (Value value : values)
    result.append(PyValue(value, unit));
  return result;
}

static void populateModule(nb::module_ &m) {
  nb::class_<PyModule>(m, "Module", "A module and everything in it.")
      .def(
          "__init__",
          [](PyModule *self, PyContext &context) {
            auto module = ModuleOp::create(UnknownLoc::get(context.ref.get()));
            new (self) PyModule{std::make_shared<IRUnit>(context.ref, module)};
          },
          "context"_a)
      .def_static("parse", &parseModule, "asm"_a, "context"_a,
                  "filename"_a = "<string>")
      .def("clone",
           [](PyModule &self) {
             return PyModule{std::make_shared<IRUnit>(
                 self.unit->context, self.unit->module.get().clone())};
           })
      .def_prop_ro("context",
                   [](PyModule &self) { return PyContext{self.unit->context}; })
      .def_prop_ro("operation",
                   [](PyModule &self) {
                     return PyOperation(self.unit->module.get(), self.unit);
                   })
      .def_prop_ro("body",
                   [](PyModule &self) {
                     return PyBlock(self.unit->module->getBody(), self.unit);
                   })
      .def("attribute",
           [](PyModule &self, std::string_view name) {
             return attributeOf(self.unit->module.get(), name, self.unit);
           })
      .def("set_attribute",
           [](PyModule &self, std::string_view name, PyAttribute &attr) {
             self.unit->module.get()->setAttr(StringRef(name), attr.attr);
           })
      .def("verify",
           [](PyModule &self) {
             verifyOperation(self.unit->module.get());
             return true;
           })
      .def(
          "str",
          [](PyModule &self, bool debugInfo, bool nameLocs, bool generic) {
            return printOperation(self.unit->module.get(), debugInfo, nameLocs,
                                  generic);
          },
          "enable_debug_info"_a = false, "use_name_loc_as_prefix"_a = true,
          "print_generic_op_form"_a = false)
      .def("__str__", [](PyModule &self) {
        return printOperation(self.unit->module.get(), false, true, false);
      });
}

static void populateOperation(nb::module_ &m) {
  nb::class_<PyOperation>(m, "Operation", "An operation.")
      .def_prop_ro("name",
                   [](PyOperation &self) {
                     return self.get()->getName().getStringRef().str();
                   })
      .def_prop_ro("operands",
                   [](PyOperation &self) {
                     return valuesOf(self.get()->getOperands(), self.unit);
                   })
      .def_prop_ro("results",
                   [](PyOperation &self) {
                     return valuesOf(self.get()->getResults(), self.unit);
                   })
      .def_prop_ro("result",
                   [](PyOperation &self) {
                     if (self.get()->getNumResults() != 1)
                       throw nb::value_error(
                           "the operation does not have one result");
                     return PyValue(self.get()->getResult(0), self.unit);
                   })
      .def_prop_ro("regions",
                   [](PyOperation &self) {
                     nb::list result;
                     for (Region &region : self.get()->getRegions())
                       result.append(PyRegion(&region, self.unit));
                     return result;
                   })
      .def_prop_ro("parent",
                   [](PyOperation &self) -> nb::object {
                     Operation *parent = self.get()->getParentOp();
                     if (!parent)
                       return nb::none();
                     return nb::cast(PyOperation(parent, self.unit));
                   })
      .def_prop_ro("location",
                   [](PyOperation &self) {
                     return PyLocation{self.get()->getLoc(),
                                       self.unit->context};
                   })
      .def_prop_ro(
          "attributes",
          [](PyOperation &self) {
            nb::dict result;
            for (NamedAttribute entry : self.get()->getAttrs())
              result[nb::str(entry.getName().data(), entry.getName().size())] =
                  PyAttribute{entry.getValue(), self.unit->context};
            return result;
          })
      .def("attribute",
           [](PyOperation &self, std::string_view name) {
             return attributeOf(self.get(), name, self.unit);
           })
      .def("set_attribute",
           [](PyOperation &self, std::string_view name, PyAttribute &attr) {
             self.get()->setAttr(StringRef(name), attr.attr);
           })
      .def("verify", [](PyOperation &self) { verifyOperation(self.get()); })
      .def("erase",
           [](PyOperation &self) {
             if (!self.get()->use_empty())
               throw nb::value_error("the operation still has uses");
             self.get()->erase();
             ++self.unit->generation;
           })
      .def(
          "walk",
          [](PyOperation &self, nb::callable callback) {
            // Pre-order, so that a reader meets an operation before its body.
            self.get()->walk<WalkOrder::PreOrder>(
                [&](Operation *op) { callback(PyOperation(op, self.unit)); });
          },
          "callback"_a)
      .def(
          "__eq__",
          [](PyOperation &self, PyOperation &other) {
            return self.object == other.object;
          },
          nb::is_operator())
      .def("__hash__", [](PyOperation &self) { return size_t(self.object); })
      .def("__str__", [](PyOperation &self) {
        return printOperation(self.get(), false, true, false);
      });
}

static void populateRegionsAndBlocks(nb::module_ &m) {
  nb::class_<PyRegion>(m, "Region", "A list of blocks.")
      .def_prop_ro("blocks", [](PyRegion &self) {
        nb::list result;
        for (Block &block : *self.get())
          result.append(PyBlock(&block, self.unit));
        return result;
      });

  nb::class_<PyBlock>(m, "Block", "A list of operations.")
      .def_prop_ro("arguments",
                   [](PyBlock &self) {
                     nb::list result;
                     for (BlockArgument argument : self.get()->getArguments())
                       result.append(PyValue(argument, self.unit));
                     return result;
                   })
      .def_prop_ro("operations",
                   [](PyBlock &self) {
                     nb::list result;
                     for (Operation &op : *self.get())
                       result.append(PyOperation(&op, self.unit));
                     return result;
                   })
      .def(
          "__eq__",
          [](PyBlock &self, PyBlock &other) {
            return self.object == other.object;
          },
          nb::is_operator())
      .def("__hash__", [](PyBlock &self) { return size_t(self.object); });

  nb::class_<PyInsertionPoint>(m, "InsertionPoint",
                               "Where a builder puts the next operation.")
      .def_static("at_block_begin",
                  [](PyBlock &block) {
                    Block *b = block.get();
                    return PyInsertionPoint(
                        b, b->empty() ? nullptr : &b->front(), block.unit);
                  })
      .def_static("at_block_end",
                  [](PyBlock &block) {
                    return PyInsertionPoint(block.get(), nullptr, block.unit);
                  })
      .def_static("before", [](PyOperation &op) {
        return PyInsertionPoint(op.get()->getBlock(), op.get(), op.unit);
      });
}

static void populateValue(nb::module_ &m) {
  nb::class_<PyValue>(m, "Value", "An SSA value.")
      .def_prop_ro("type",
                   [](PyValue &self) {
                     return PyType{self.get().getType(), self.unit->context};
                   })
      .def_prop_ro("owner",
                   [](PyValue &self) -> nb::object {
                     Operation *op = self.get().getDefiningOp();
                     if (!op)
                       return nb::none();
                     return nb::cast(PyOperation(op, self.unit));
                   })
      .def_prop_ro("location",
                   [](PyValue &self) {
                     return PyLocation{self.get().getLoc(), self.unit->context};
                   })
      .def(
          "name",
          [](PyValue &self, std::string_view name) {
            // The first name given wins: `y = x` makes no new value.
            Value value = self.get();
            if (isa<NameLoc>(value.getLoc()))
              return;
            value.setLoc(NameLoc::get(StringAttr::get(value.getContext(), name),
                                      value.getLoc()));
          },
          "Gives the value a name that its location carries.")
      .def(
          "__eq__",
          [](PyValue &self, PyValue &other) {
            return self.object == other.object;
          },
          nb::is_operator())
      .def("__hash__",
           [](PyValue &self) { return size_t(hash_value(self.object)); })
      .def("__str__", [](PyValue &self) {
        std::string text;
        llvm::raw_string_ostream os(text);
        self.get().print(os);
        return text;
      });
}

void populateIr(nb::module_ &m) {
  populateModule(m);
  populateOperation(m);
  populateRegionsAndBlocks(m);
  populateValue(m);
}

} // namespace tile::python
