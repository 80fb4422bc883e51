//===-- guarded_call.cpp - Calls that are in no traceback -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of Python adds its own frame to the traceback of each error that
// leaves it. A call from C++ adds none. So the functions that users call are
// called from here, and a handler takes the package's frames out of the errors.
//===----------------------------------------------------------------------===//

#include "GuardedCall.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tile::python {

namespace {
struct GuardedCall {
  nb::object function;
  /// Is called with each error before it is raised further.
  nb::object onError;

  nb::object call(nb::args arguments, nb::kwargs keywords) const {
    nb::object result = nb::steal(
        PyObject_Call(function.ptr(), arguments.ptr(), keywords.ptr()));
    if (result.is_valid())
      return result;
    nb::object error = nb::borrow(nb::python_error().value());
    onError(error);
    // This takes the traceback that the error has now.
    PyErr_SetObject(error.type().ptr(), error.ptr());
    throw nb::python_error();
  }
};
} // namespace

static int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self))
    return 0;
  auto *guarded = nb::inst_ptr<GuardedCall>(self);
  Py_VISIT(guarded->function.ptr());
  Py_VISIT(guarded->onError.ptr());
  return 0;
}

static int clear(PyObject *self) {
  auto *guarded = nb::inst_ptr<GuardedCall>(self);
  guarded->function.reset();
  guarded->onError.reset();
  return 0;
}

static PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {0, nullptr}};

void populateGuardedCall(nb::module_ &m) {
  nb::class_<GuardedCall>(m, "GuardedCall", nb::dynamic_attr(),
                          nb::type_slots(slots),
                          "A function whose errors a handler sees first.")
      .def(
          "__init__",
          [](GuardedCall *self, nb::object function, nb::object onError) {
            new (self) GuardedCall{std::move(function), std::move(onError)};
          },
          "function"_a, "on_error"_a)
      .def("__call__", &GuardedCall::call)
      .def(
          "__get__",
          [](nb::handle self, nb::handle instance, nb::handle) -> nb::object {
            if (instance.is_none())
              return nb::borrow(self);
            return nb::module_::import_("types").attr("MethodType")(self,
                                                                    instance);
          },
          "instance"_a.none(), "owner"_a.none() = nb::none());
}

} // namespace tile::python
