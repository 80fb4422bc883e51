//===-- launch.cpp - The hot path of a kernel launch ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kernel[grid](...)` runs no Python: the subscript is a method descriptor,
// what it returns is an object that is called by the vectorcall protocol, and
// that asks the kernel's dispatcher.
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Dispatcher.h"
#include "GuardedCall.h"
#include "tile/Rules/LaunchSteps.h"

#include <cstddef>
#include <structmember.h>

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tile::python {

namespace {
/// What `kernel[grid]` is.
struct GridLaunch {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *dispatcher;
  PyObject *grid;
};
} // namespace

/// Calls C++ that throws for Python, which wants errors to be set.
template <typename Function> static PyObject *guarded(Function function) {
  try {
    return function().release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (nb::builtin_exception &error) {
    PyErr_SetString(error.type() == nb::exception_type::value_error
                        ? PyExc_ValueError
                        : PyExc_TypeError,
                    error.what());
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

static PyObject *callGridLaunch(PyObject *self, PyObject *const *arguments,
                                size_t flagged, PyObject *keywords) {
  auto *launch = reinterpret_cast<GridLaunch *>(self);
  return guarded([&] {
    auto *dispatcher = nb::inst_ptr<Dispatcher>(launch->dispatcher);
    return dispatcher->call(launch->grid, arguments,
                            size_t(PyVectorcall_NARGS(flagged)), keywords);
  });
}

static void freeGridLaunch(PyObject *self) {
  auto *launch = reinterpret_cast<GridLaunch *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(launch->dispatcher);
  Py_CLEAR(launch->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static int traverseGridLaunch(PyObject *self, visitproc visit, void *arg) {
  auto *launch = reinterpret_cast<GridLaunch *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launch->dispatcher);
  Py_VISIT(launch->grid);
  return 0;
}

static int clearGridLaunch(PyObject *self) {
  auto *launch = reinterpret_cast<GridLaunch *>(self);
  Py_CLEAR(launch->dispatcher);
  Py_CLEAR(launch->grid);
  return 0;
}

static PyMemberDef gridLaunchMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(GridLaunch, vectorcall),
     READONLY, nullptr},
    {"grid", T_OBJECT, offsetof(GridLaunch, grid), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

static PyType_Slot gridLaunchSlots[] = {
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(freeGridLaunch)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseGridLaunch)},
    {Py_tp_clear, reinterpret_cast<void *>(clearGridLaunch)},
    {Py_tp_members, gridLaunchMembers},
    {0, nullptr}};

static PyType_Spec gridLaunchSpec = {
    "tile._C.launch.GridLaunch", sizeof(GridLaunch), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    gridLaunchSlots};

static PyTypeObject *gridLaunchType() {
  static auto *type =
      reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&gridLaunchSpec));
  return type;
}

/// `kernel.__getitem__(grid)`.
static PyObject *subscript(PyObject *kernel, PyObject *grid) {
  static PyObject *const name = PyUnicode_InternFromString("_dispatcher");
  PyObject *dispatcher = PyObject_GetAttr(kernel, name);
  if (!dispatcher)
    return nullptr;
  if (dispatcher == Py_None) {
    Py_DECREF(dispatcher);
    dispatcher = PyObject_CallMethod(kernel, "make_dispatcher", nullptr);
    if (!dispatcher)
      return nullptr;
  }
  if (!nb::isinstance<Dispatcher>(dispatcher)) {
    PyErr_SetString(PyExc_TypeError, "make_dispatcher returns a Dispatcher");
    Py_DECREF(dispatcher);
    return nullptr;
  }
  auto *result = PyObject_GC_New(GridLaunch, gridLaunchType());
  if (!result) {
    Py_DECREF(dispatcher);
    return nullptr;
  }
  result->vectorcall = callGridLaunch;
  result->dispatcher = dispatcher;
  result->grid = Py_NewRef(grid);
  PyObject_GC_Track(reinterpret_cast<PyObject *>(result));
  return reinterpret_cast<PyObject *>(result);
}

static PyMethodDef subscriptMethod = {
    "__getitem__", subscript, METH_O,
    "``kernel[grid]`` is called with the arguments of a launch."};

static int traverseDispatcher(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self)
             ? nb::inst_ptr<Dispatcher>(self)->traverse(visit, arg)
             : 0;
}

static int clearDispatcher(PyObject *self) {
  nb::inst_ptr<Dispatcher>(self)->clear();
  return 0;
}

static PyType_Slot dispatcherSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void *>(traverseDispatcher)},
    {Py_tp_clear, reinterpret_cast<void *>(clearDispatcher)},
    {0, nullptr}};

static std::vector<Leaf> getLeaves(const PackedLaunch &launch,
                                   nb::tuple values) {
  if (values.size() != launch.count())
    throw nb::value_error("wrong number of arguments");
  std::vector<Leaf> leaves;
  for (nb::handle value : values)
    leaves.push_back({value.ptr(), 0});
  return leaves;
}

static int callPacked(PackedLaunch &self, uint32_t x, uint32_t y, uint32_t z,
                      uint64_t stream, nb::tuple values) {
  return self.launch(x, y, z, stream, getLeaves(self, values).data());
}

void populateLaunch(nb::module_ &m) {
  m.attr("NO_TENSOR_MAP") = noTensorMap;
  m.attr("UNLOADED") = unloaded;
  nb::class_<TensorMapSlot>(m, "TensorMapSlot",
                            "A tensor map that a kernel takes by value.")
      .def(nb::init<uint32_t, uint32_t, uint32_t, uint32_t,
                    std::vector<uint32_t>, bool, uint32_t,
                    std::vector<std::tuple<int64_t, int64_t, int64_t>>,
                    std::vector<uint32_t>>(),
           "base"_a, "element_type"_a, "element_bytes"_a, "swizzle"_a, "box"_a,
           "pixels"_a = false, "packing"_a = 1,
           "code"_a = std::vector<std::tuple<int64_t, int64_t, int64_t>>(),
           "parts"_a = std::vector<uint32_t>());
  m.def(
      "run_steps",
      [](const std::vector<std::tuple<int64_t, int64_t, int64_t>> &code,
         const std::function<uint64_t(int64_t)> &getInput) {
        std::vector<int64_t> values;
        rules::runLaunchSteps(code, values, getInput);
        return values;
      },
      "code"_a, "get_input"_a,
      "What each step of `TensorMapSlot.code` computes; `get_input` gives the "
      "bits of an input by its number.");
  nb::class_<TensorMaps>(m, "TensorMaps", "The tensor maps of a kernel.")
      .def(nb::init<uint64_t, uint64_t, uint32_t, std::vector<TensorMapSlot>>(),
           "encode"_a, "encode_pixels"_a, "at"_a, "slots"_a);
  nb::class_<GraphFunctions>(m, "GraphFunctions",
                             "The addresses of a driver's functions on graphs.")
      .def(nb::init<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                    uint64_t, uint64_t, uint64_t>(),
           "is_capturing"_a = 0, "get_priority"_a = 0, "create"_a = 0,
           "add_kernel"_a = 0, "instantiate"_a = 0, "set_parameters"_a = 0,
           "launch"_a = 0, "destroy_exec"_a = 0, "destroy"_a = 0);
  nb::class_<ScratchMemory>(m, "ScratchMemory",
                            "Memory that a kernel asks for at each launch.")
      .def(nb::init<uint64_t, uint64_t, uint32_t, nb::object>(), "size"_a,
           "alignment"_a, "at"_a, "allocate"_a.none());
  nb::class_<PackedLaunch>(m, "PackedLaunch",
                           "Packs arguments and calls a driver's function.")
      .def(nb::init<const std::vector<std::string> &, uint64_t, uint64_t,
                    unsigned, unsigned, unsigned,
                    const PackedLaunch::Attributes &, nb::callable, TensorMaps,
                    const std::vector<std::string> &, const GraphFunctions &,
                    ScratchMemory>(),
           "types"_a, "call"_a, "function"_a, "threads"_a, "shared"_a, "ctas"_a,
           "attributes"_a, "address"_a, "maps"_a = TensorMaps(),
           "names"_a = std::vector<std::string>(),
           "graphs"_a = GraphFunctions(), "scratch"_a = ScratchMemory())
      .def("__call__", &callPacked, "x"_a, "y"_a, "z"_a, "stream"_a, "values"_a,
           "Launches; returns the driver's code.")
      .def(
          "has_tensor_maps",
          [](PackedLaunch &self, nb::tuple values) {
            return self.hasTensorMaps(getLeaves(self, values).data());
          },
          "values"_a, "Whether tensor maps describe the descriptors.");
  m.def("round_to_16_bits", &roundTo16Bits, "number"_a, "bfloat"_a,
        "The bits of the nearest fp16 or bf16.");
  nb::class_<LaunchState>(m, "LaunchState",
                          "What the launches of all kernels look at.")
      .def(nb::init<nb::object, nb::object, nb::tuple, nb::tuple, nb::tuple,
                    nb::tuple, nb::tuple, nb::callable, nb::tuple, nb::tuple>(),
           "drivers"_a, "environment"_a, "flags"_a, "settings"_a, "overrides"_a,
           "hooks"_a, "describe"_a, "constant"_a, "opaque"_a, "mode"_a);
  nb::class_<Dispatcher::Entry>(m, "Entry", "A kernel that is loaded.")
      .def_ro("kernel", &Dispatcher::Entry::kernel);
  nb::class_<Dispatcher>(m, "Dispatcher", nb::type_slots(dispatcherSlots),
                         "Finds and launches the kernel for given arguments.")
      .def(nb::init<nb::object, const std::vector<int> &, nb::tuple, nb::tuple,
                    nb::list, nb::callable, nb::object, size_t>(),
           "state"_a, "modes"_a, "names"_a, "defaults"_a, "hooks"_a, "slow"_a,
           "around"_a.none(), "positional"_a)
      .def("launch",
           nb::overload_cast<const Dispatcher::Entry &, nb::object, int,
                             uint64_t, nb::tuple, uint32_t, uint32_t, uint32_t>(
               &Dispatcher::launch),
           "entry"_a, "driver"_a, "device"_a, "stream"_a, "values"_a, "x"_a,
           "y"_a, "z"_a,
           "Launches and returns the kernel; an integer if the driver failed, "
           "or was not asked (NO_TENSOR_MAP, UNLOADED).")
      .def("find",
           nb::overload_cast<nb::object, int, nb::handle, nb::tuple>(
               &Dispatcher::find),
           "driver"_a, "device"_a, "options"_a.none(), "values"_a,
           "The kernel that is compiled for these values; None if none is.")
      .def("has_tensor_maps",
           nb::overload_cast<const Dispatcher::Entry &, nb::object, int,
                             nb::tuple>(&Dispatcher::hasTensorMaps),
           "entry"_a, "driver"_a, "device"_a, "values"_a,
           "Whether a launch has the tensor maps that it needs.")
      .def(
          "insert", &Dispatcher::insert, "driver"_a, "device"_a,
          "options"_a.none(), "values"_a, "kernel"_a, "launch"_a, "passed"_a,
          "direct"_a.none(), "disjoint"_a,
          "Adds a kernel; `passed` has which of the arguments, with tuples and "
          "descriptors taken apart, it takes. `direct` launches where these "
          "pairs of them are disjoint.")
      .def("forget", &Dispatcher::forget, "kernel"_a,
           "Launches that this kernel was for look for one again.")
      .def("set_references", &Dispatcher::setReferences, "references"_a,
           "What kernels were compiled with: (owner, name, value). While one "
           "has changed, launches go through Python.");
  m.attr("subscript") =
      nb::steal(PyDescr_NewMethod(&PyBaseObject_Type, &subscriptMethod));
  populateGuardedCall(m);
}

} // namespace tile::python
