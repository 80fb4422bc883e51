//===-- launch.cpp - The hot path of a kernel launch ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch finds the kernel that was compiled for arguments like these, packs
// the arguments, and calls the driver: a few microseconds, most of which would
// go to Python. What an argument is compiled as is decided in specialize.py;
// this file only tells apart what that tells apart.
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "PackedLaunch.h"

#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tile::python {

namespace {

/// How a parameter takes part in the key of a launch.
enum class Mode { Value = 0, Unaligned = 1, TypeOnly = 2, Constant = 3 };

/// The key of a launch: numbers, and objects that compare as Python's do.
struct Key {
  std::vector<uint64_t> words;
  std::vector<PyObject *> objects; ///< Borrowed, until the key is stored.
  uint64_t hash = 0;

  void clear() {
    words.clear();
    objects.clear();
    hash = 0x9E3779B97F4A7C15u;
  }
  void add(uint64_t word) {
    words.push_back(word);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  void addObject(PyObject *object) {
    Py_hash_t value = PyObject_Hash(object);
    if (value == -1)
      throw nb::python_error();
    objects.push_back(object);
    // 1, True and 1.0 are equal but compile to different kernels.
    add(reinterpret_cast<uint64_t>(Py_TYPE(object)));
    add(uint64_t(value));
  }
  bool equals(const Key &other) const {
    if (words != other.words)
      return false;
    for (size_t i = 0; i != objects.size(); ++i) {
      if (objects[i] == other.objects[i])
        continue;
      int same = PyObject_RichCompareBool(objects[i], other.objects[i], Py_EQ);
      if (same < 0)
        throw nb::python_error();
      if (!same)
        return false;
    }
    return true;
  }
};

struct Entry {
  Key key;
  std::vector<nb::object> keepAlive;
  nb::object kernel;
  nb::object launch; ///< A PackedLaunch, or any callable.
  PackedLaunch *packed = nullptr;
  std::vector<uint32_t> runtime;
};

/// What one launch asks for. Local to it: a user's data_ptr() or __eq__ may run
/// Python, and with it another launch.
struct Query {
  Key key;
  std::vector<uint64_t> pointers; ///< Of each parameter that is a tensor.
  std::vector<nb::object> temporaries;
};

/// The kernels that were compiled of one function.
class Dispatcher {
public:
  Dispatcher(const std::vector<int> &modes, nb::callable specialize,
             nb::callable unaligned, nb::callable typeOnly,
             nb::callable constant)
      : specialize(std::move(specialize)), unaligned(std::move(unaligned)),
        typeOnly(std::move(typeOnly)), constant(std::move(constant)) {
    for (int mode : modes)
      this->modes.push_back(Mode(mode));
    dataPtrName = nb::str("data_ptr");
    dtypeName = nb::str("dtype");
    isCudaName = nb::str("is_cuda");
  }
  Dispatcher(const Dispatcher &) = delete;

  /// Launches and returns the kernel; None if it is not compiled yet.
  nb::object launch(nb::handle context, nb::object options, nb::tuple values,
                    uint32_t x, uint32_t y, uint32_t z, uint64_t stream);
  void insert(nb::handle context, nb::object options, nb::tuple values,
              nb::object kernel, nb::object launch,
              std::vector<uint32_t> runtime);

private:
  Query makeQuery(nb::handle context, nb::handle options, nb::handle values);
  void addValue(Query &query, PyObject *value, Mode mode, size_t index);

  std::vector<Mode> modes;
  nb::callable specialize, unaligned, typeOnly, constant;
  nb::object dataPtrName, dtypeName, isCudaName;
  /// What we know of the classes of arguments.
  struct ClassInfo {
    bool isTensor = false;  ///< It has data_ptr() and dtype.
    bool hasIsCuda = false; ///< It says whether it is on a GPU.
  };
  std::unordered_map<PyTypeObject *, ClassInfo> classes;
  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> entries;
};

} // namespace

void Dispatcher::addValue(Query &query, PyObject *value, Mode mode,
                          size_t index) {
  Key &key = query.key;
  if (mode == Mode::Constant) {
    if (PyLong_CheckExact(value) || PyBool_Check(value) || value == Py_None ||
        PyUnicode_CheckExact(value)) {
      key.addObject(value);
      return;
    }
    // Floats that are equal need not be the same, and lists have no hash.
    nb::object hashable = constant(nb::handle(value));
    key.addObject(hashable.ptr());
    query.temporaries.push_back(std::move(hashable));
    return;
  }
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    bool one = !overflow && number == 1 && mode != Mode::TypeOnly;
    uint64_t width = overflow ? 3 : (number == int32_t(number) ? 1 : 2);
    uint64_t aligned =
        mode == Mode::Value && (overflow || number % 16 == 0) ? 1 : 0;
    if (!overflow) {
      key.add(one ? 1 : 16 + width * 2 + aligned);
      return;
    }
    // Beyond 63 bits: rare, and unsigned or an error, which Python tells.
  } else if (PyFloat_CheckExact(value)) {
    key.add(2);
    return;
  } else if (PyBool_Check(value)) {
    key.add(3);
    return;
  } else if (value == Py_None) {
    key.add(4);
    return;
  } else {
    auto [it, isNew] = classes.try_emplace(Py_TYPE(value));
    if (isNew) {
      it->second.isTensor =
          PyObject_HasAttr(value, dataPtrName.ptr()) &&
          std::strcmp(Py_TYPE(value)->tp_name, "TensorWrapper") != 0;
      it->second.hasIsCuda = PyObject_HasAttr(value, isCudaName.ptr());
    }
    if (it->second.isTensor) {
      PyObject *argument[] = {value};
      nb::object pointer = nb::steal(PyObject_VectorcallMethod(
          dataPtrName.ptr(), argument, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
          nullptr));
      if (!pointer.is_valid())
        throw nb::python_error();
      nb::object dtype = nb::steal(PyObject_GetAttr(value, dtypeName.ptr()));
      if (!dtype.is_valid())
        throw nb::python_error();
      uint64_t address = nb::cast<uint64_t>(pointer);
      query.pointers[index] = address;
      bool onGPU = false;
      if (it->second.hasIsCuda)
        onGPU =
            nb::steal(PyObject_GetAttr(value, isCudaName.ptr())).is(Py_True);
      // A tensor in another memory than before is looked at by the driver.
      key.add(8 + (mode == Mode::Value && address % 16 == 0) + 2 * onGPU);
      key.addObject(dtype.ptr());
      query.temporaries.push_back(std::move(dtype));
      return;
    }
  }
  nb::callable &describe = mode == Mode::Value       ? specialize
                           : mode == Mode::Unaligned ? unaligned
                                                     : typeOnly;
  nb::object description = describe(nb::handle(value));
  key.add(5);
  key.addObject(description.ptr());
  query.temporaries.push_back(std::move(description));
}

Query Dispatcher::makeQuery(nb::handle context, nb::handle options,
                            nb::handle values) {
  if (size_t(PyTuple_GET_SIZE(values.ptr())) != modes.size())
    throw nb::value_error("wrong number of values");
  Query query;
  query.key.clear();
  query.key.words.reserve(2 * modes.size() + 4);
  query.key.addObject(context.ptr());
  query.key.addObject(options.ptr());
  query.pointers.assign(modes.size(), 0);
  for (size_t i = 0; i != modes.size(); ++i)
    addValue(query, PyTuple_GET_ITEM(values.ptr(), i), modes[i], i);
  return query;
}

nb::object Dispatcher::launch(nb::handle context, nb::object options,
                              nb::tuple values, uint32_t x, uint32_t y,
                              uint32_t z, uint64_t stream) {
  Query query = makeQuery(context, options, values);
  Entry *entry = nullptr;
  auto [begin, end] = entries.equal_range(query.key.hash);
  for (auto it = begin; it != end && !entry; ++it)
    if (it->second->key.equals(query.key))
      entry = it->second.get();
  if (!entry)
    return nb::none();
  if (x == 0 || y == 0 || z == 0)
    return entry->kernel;
  if (entry->packed) {
    PyObject *arguments[256];
    uint64_t addresses[256];
    for (size_t i = 0; i != entry->runtime.size(); ++i) {
      arguments[i] = PyTuple_GET_ITEM(values.ptr(), entry->runtime[i]);
      addresses[i] = query.pointers[entry->runtime[i]];
    }
    int code = entry->packed->launch(x, y, z, stream, arguments, addresses);
    if (code != 0)
      return nb::int_(code);
    return entry->kernel;
  }
  nb::list arguments;
  for (uint32_t index : entry->runtime)
    arguments.append(values[index]);
  nb::object kernel = entry->kernel;
  entry->launch(x, y, z, stream, nb::tuple(arguments));
  return kernel;
}

void Dispatcher::insert(nb::handle context, nb::object options,
                        nb::tuple values, nb::object kernel, nb::object launch,
                        std::vector<uint32_t> runtime) {
  Query query = makeQuery(context, options, values);
  auto entry = std::make_unique<Entry>();
  entry->key = std::move(query.key);
  for (PyObject *object : entry->key.objects)
    entry->keepAlive.push_back(nb::borrow(object));
  entry->kernel = std::move(kernel);
  if (nb::isinstance<PackedLaunch>(launch) && runtime.size() <= 256)
    entry->packed = nb::cast<PackedLaunch *>(launch);
  entry->launch = std::move(launch);
  entry->runtime = std::move(runtime);
  uint64_t hash = entry->key.hash;
  entries.emplace(hash, std::move(entry));
}

void populateLaunch(nb::module_ &m) {
  nb::class_<PackedLaunch>(m, "PackedLaunch",
                           "Packs arguments and calls a driver's function.")
      .def(nb::init<const std::vector<std::string> &, uint64_t, uint64_t,
                    uint64_t, uint64_t, uint64_t, unsigned, nb::callable>(),
           "types"_a, "call"_a, "config"_a, "function"_a, "grid"_a, "stream"_a,
           "ctas"_a, "address"_a)
      .def("__call__", [](PackedLaunch &self, uint32_t x, uint32_t y,
                          uint32_t z, uint64_t stream, nb::tuple values) {
        if (values.size() != self.count())
          throw nb::value_error("wrong number of arguments");
        std::vector<PyObject *> arguments;
        for (nb::handle value : values)
          arguments.push_back(value.ptr());
        return self.launch(x, y, z, stream, arguments.data(), nullptr);
      });
  nb::class_<Dispatcher>(m, "Dispatcher",
                         "Finds and launches the kernel for given arguments.")
      .def(nb::init<const std::vector<int> &, nb::callable, nb::callable,
                    nb::callable, nb::callable>(),
           "modes"_a, "specialize"_a, "unaligned"_a, "type_only"_a,
           "constant"_a)
      .def("launch", &Dispatcher::launch, "context"_a, "options"_a.none(),
           "values"_a, "x"_a, "y"_a, "z"_a, "stream"_a,
           "Launches and returns the kernel; None if it is not compiled yet; "
           "an integer if the driver failed.")
      .def("insert", &Dispatcher::insert, "context"_a, "options"_a.none(),
           "values"_a, "kernel"_a, "launch"_a, "runtime"_a);
}

} // namespace tile::python
