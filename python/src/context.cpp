//===-- context.cpp - Context, Location and MLIRError ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"
#include "Registry.h"

#include "tile/Pipeline/InitAll.h"
#include "tile/Pipeline/VerifyChanges.h"
#include "tile/Target/FatalErrors.h"

#include "mlir/IR/Dialect.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

DialectRegistry &getDialectRegistry() {
  // Building the registry runs a few hundred insertions; once is enough.
  static DialectRegistry &registry = *[] {
    auto *registry = new DialectRegistry();
    triton::registerAllDialects(*registry);
    return registry;
  }();
  return registry;
}

ContextRef createContext(bool threading) {
  auto context = std::make_shared<MLIRContext>(
      getDialectRegistry(), threading ? MLIRContext::Threading::ENABLED
                                      : MLIRContext::Threading::DISABLED);
  triton::verifyOnlyChanges(*context);
  return context;
}

static nb::object toPython(const CollectedDiagnostic &diag) {
  nb::dict result;
  result["severity"] = diag.severity;
  result["message"] = diag.message;
  result["location"] = diag.location;
  nb::list places;
  for (const SourcePlace &place : diag.places)
    places.append(nb::make_tuple(place.file, place.line, place.column));
  result["places"] = places;
  nb::list notes;
  for (const CollectedDiagnostic &note : diag.notes)
    notes.append(toPython(note));
  result["notes"] = notes;
  return result;
}

static void populateErrors(nb::module_ &m) {
  // A Python class with a `diagnostics` attribute, raised for MLIRError.
  nb::object type = nb::steal(PyErr_NewExceptionWithDoc(
      "tile._C.ir.MLIRError",
      "What MLIR reported. `diagnostics` lists every report: a dict with "
      "severity, message, location, places [(file, line, column)], notes.",
      PyExc_RuntimeError, nullptr));
  m.attr("MLIRError") = type;
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *payload) {
        nb::handle type((PyObject *)payload);
        auto set = [type](const MLIRError &error) {
          nb::object exception = type(error.message);
          nb::list diagnostics;
          for (const CollectedDiagnostic &diag : error.diagnostics)
            diagnostics.append(toPython(diag));
          exception.attr("diagnostics") = diagnostics;
          PyErr_SetObject(type.ptr(), exception.ptr());
        };
        try {
          std::rethrow_exception(pointer);
        } catch (const MLIRError &error) {
          set(error);
        } catch (const triton::FatalError &error) {
          set({"LLVM cannot compile this: " + error.reason, {}});
        }
      },
      type.release().ptr());
}

static std::string printLocation(const PyLocation &self) {
  std::string text;
  llvm::raw_string_ostream(text) << self.loc;
  return text;
}

void populateContext(nb::module_ &m) {
  triton::throwFatalErrors();
  populateErrors(m);

  nb::class_<PyContext>(m, "Context", "Owns types, attributes and dialects.")
      .def(
          "__init__",
          [](PyContext *self, bool threading) {
            new (self) PyContext{createContext(threading)};
          },
          "threading"_a = false)
      .def_prop_rw(
          "allow_unregistered_dialects",
          [](PyContext &self) {
            return self.ref->allowsUnregisteredDialects();
          },
          [](PyContext &self, bool allow) {
            self.ref->allowUnregisteredDialects(allow);
          })
      .def("load_dialect",
           [](PyContext &self, std::string_view name) {
             if (!self.ref->getOrLoadDialect(name))
               throw nb::value_error(
                   ("unknown dialect '" + std::string(name) + "'").c_str());
           })
      .def("is_registered_operation",
           [](PyContext &self, std::string_view name) {
             return RegisteredOperationName::lookup(name, self.ref.get())
                 .has_value();
           });

  nb::class_<PyLocation>(m, "Location", "A place in the user's sources.")
      .def_static(
          "unknown",
          [](PyContext &context) {
            return PyLocation{UnknownLoc::get(context.ref.get()), context.ref};
          },
          "context"_a)
      .def_static(
          "file",
          [](std::string_view file, unsigned line, unsigned column,
             PyContext &context) {
            return PyLocation{
                FileLineColLoc::get(context.ref.get(), file, line, column),
                context.ref};
          },
          "filename"_a, "line"_a, "col"_a, "context"_a)
      .def_static(
          "name",
          [](std::string_view name, PyLocation &child) {
            return PyLocation{
                NameLoc::get(StringAttr::get(child.context.get(), name),
                             child.loc),
                child.context};
          },
          "name"_a, "child_loc"_a)
      .def_static(
          "callsite",
          [](PyLocation &callee, PyLocation &caller) {
            return PyLocation{CallSiteLoc::get(callee.loc, caller.loc),
                              callee.context};
          },
          "callee"_a, "caller"_a)
      .def_static(
          "fused",
          [](std::vector<PyLocation> locations, PyContext &context) {
            SmallVector<Location> locs;
            for (PyLocation &loc : locations)
              locs.push_back(loc.loc);
            return PyLocation{FusedLoc::get(context.ref.get(), locs),
                              context.ref};
          },
          "locations"_a, "context"_a)
      .def_prop_ro("places",
                   [](PyLocation &self) {
                     nb::list result;
                     for (const SourcePlace &place : getSourcePlaces(self.loc))
                       result.append(nb::make_tuple(place.file, place.line,
                                                    place.column));
                     return result;
                   })
      .def(
          "__eq__",
          [](PyLocation &self, PyLocation &other) {
            return self.loc == other.loc;
          },
          nb::is_operator())
      .def("__hash__",
           [](PyLocation &self) { return size_t(hash_value(self.loc)); })
      .def("__str__", &printLocation)
      .def("__repr__", &printLocation);
}

} // namespace tile::python
