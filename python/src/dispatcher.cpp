//===-- dispatcher.cpp - Finds and launches compiled kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dispatcher.h"

#include <algorithm>
#include <utility>

namespace nb = nanobind;

namespace tile::python {

//===----------------------------------------------------------------------===//
// LaunchState
//===----------------------------------------------------------------------===//

LaunchState::LaunchState(nb::object drivers, nb::object environment,
                         nb::tuple flags, nb::tuple settings,
                         nb::tuple overrides, nb::tuple hooks,
                         nb::tuple describe, nb::callable constant,
                         nb::tuple opaque, nb::tuple mode)
    : describe(std::move(describe)), opaque(std::move(opaque)),
      constant(std::move(constant)), drivers(std::move(drivers)),
      environment(std::move(environment)), flags(std::move(flags)),
      overrides(std::move(overrides)), hooks(std::move(hooks)),
      settings(std::move(settings)), mode(std::move(mode)),
      modules(nb::borrow<nb::dict>(PyImport_GetModuleDict())) {}

static bool hasAny(PyObject *dictionary, nb::handle names) {
  for (Py_ssize_t i = 0, e = NB_TUPLE_GET_SIZE(names.ptr()); i != e; ++i)
    if (PyDict_Contains(dictionary, NB_TUPLE_GET_ITEM(names.ptr(), i)) != 0)
      return true;
  return false;
}

bool LaunchState::isOrdinary() const {
  if (!PyDict_CheckExact(environment.ptr()) || hasAny(environment.ptr(), flags))
    return false;
  for (Py_ssize_t i = 0, e = NB_TUPLE_GET_SIZE(settings.ptr()); i != e; ++i)
    if (PyObject *group = NB_TUPLE_GET_ITEM(settings.ptr(), i);
        NB_DICT_GET_SIZE(group) != 0 && hasAny(group, overrides))
      return false;
  for (Py_ssize_t i = 0, e = NB_TUPLE_GET_SIZE(hooks.ptr()); i != e; ++i)
    if (NB_LIST_GET_SIZE(NB_TUPLE_GET_ITEM(hooks.ptr(), i)) != 0)
      return false;
  return true;
}

Option LaunchState::getMode() const {
  PyObject *name = NB_TUPLE_GET_ITEM(mode.ptr(), 1);
  PyObject *value = PyDict_GetItem(NB_TUPLE_GET_ITEM(mode.ptr(), 0), name);
  return {name, value && PyObject_IsTrue(value) == 1 ? value : nullptr};
}

bool LaunchState::findStream(DeviceStream &place) {
  static PyObject *const activeName = PyUnicode_InternFromString("_active");
  static PyObject *const torchName = PyUnicode_InternFromString("torch");
  nb::object active = nb::steal(PyObject_GetAttr(drivers.ptr(), activeName));
  if (!active.is_valid())
    throw nb::python_error();
  if (active.is_none())
    return false;
  std::shared_ptr<DriverFunctions> known = functions;
  if (!known || !active.is(known->driver)) {
    known = std::make_shared<DriverFunctions>();
    known->driver = active;
    known->getStream = nb::none();
    known->getDevice = reinterpret_cast<int (*)(int *)>(
        nb::cast<uint64_t>(nb::getattr(active, "device_getter", nb::int_(0))));
    functions = known;
  }
  // A thread without a context has no device yet.
  if (!known->getDevice || known->getDevice(&place.device) != 0)
    return false;
  place.driver = known->driver;
  nb::object getStream = known->getStream;
  if (getStream.is_none()) {
    if (!PyDict_GetItem(modules.ptr(), torchName))
      return true; // Nobody has made another stream the current one.
    getStream = active.attr("stream_getter")();
    if (getStream.is_none())
      return true;
    known->getStream = getStream;
  }
  nb::object device = nb::steal(PyLong_FromLong(place.device));
  nb::object stream = getStream(device);
  place.stream = PyLong_AsUnsignedLongLong(stream.ptr());
  if (PyErr_Occurred())
    throw nb::python_error();
  return true;
}

//===----------------------------------------------------------------------===//
// Dispatcher
//===----------------------------------------------------------------------===//

Dispatcher::Dispatcher(nb::object state, const std::vector<int> &modes,
                       nb::tuple names, nb::tuple defaults, nb::list hooks,
                       nb::callable slow, nb::object around, size_t positional)
    : stateObject(state), state(nb::cast<LaunchState &>(state)),
      positional(positional), names(std::move(names)),
      defaults(std::move(defaults)), hooks(std::move(hooks)),
      around(std::move(around)), slow(std::move(slow)) {
  for (int mode : modes)
    this->modes.push_back(Mode(mode));
}

/// Whether a dictionary, or what has attributes, has this value under a name.
static bool isStill(PyObject *owner, PyObject *name, PyObject *value) {
  if (PyDict_Check(owner))
    return PyDict_GetItem(owner, name) == value;
  nb::object found = nb::steal(PyObject_GetAttr(owner, name));
  if (!found.is_valid())
    PyErr_Clear(); // Python says what is wrong.
  return found.ptr() == value;
}

bool Dispatcher::isOrdinary() const {
  if (NB_LIST_GET_SIZE(hooks.ptr()) != 0 || !state.isOrdinary())
    return false;
  // Asking for an attribute may run Python, and with it a compile.
  std::shared_ptr<const References> known = references;
  if (!known)
    return true;
  for (const auto &[owner, name, value] : *known)
    if (!isStill(owner.ptr(), name.ptr(), value.ptr()))
      return false;
  return true;
}

bool Dispatcher::bind(PyObject *const *arguments, size_t count,
                      PyObject *keywords, PyObject **values,
                      llvm::SmallVectorImpl<Option> &options) const {
  size_t total = modes.size();
  if (count > positional)
    return false;
  std::copy_n(arguments, count, values);
  std::fill(values + count, values + total, nullptr);
  size_t named = keywords ? size_t(NB_TUPLE_GET_SIZE(keywords)) : 0;
  for (size_t k = 0; k != named; ++k) {
    PyObject *name = NB_TUPLE_GET_ITEM(keywords, k);
    size_t i = 0;
    // The names in a call are interned, as the parameters' are.
    while (i != total && NB_TUPLE_GET_ITEM(names.ptr(), i) != name)
      ++i;
    if (i == total) {
      i = 0;
      while (i != total &&
             PyUnicode_Compare(NB_TUPLE_GET_ITEM(names.ptr(), i), name) != 0)
        ++i;
    }
    PyObject *value = arguments[count + k];
    if (i == total) {
      options.push_back({name, value});
      continue;
    }
    if (values[i])
      return false; // Given twice.
    values[i] = value;
  }
  for (size_t i = count; i != total; ++i) {
    if (values[i])
      continue;
    PyObject *value = NB_TUPLE_GET_ITEM(defaults.ptr(), i);
    if (value == stateObject.ptr())
      return false; // Missing.
    values[i] = value;
  }
  return true;
}

nb::object Dispatcher::callGrid(nb::handle grid,
                                PyObject *const *values) const {
  nb::dict meta;
  for (size_t i = 0; i != modes.size(); ++i)
    if (PyDict_SetItem(meta.ptr(), NB_TUPLE_GET_ITEM(names.ptr(), i),
                       values[i]) < 0)
      throw nb::python_error();
  PyObject *argument = meta.ptr();
  nb::object result =
      nb::steal(PyObject_Vectorcall(grid.ptr(), &argument, 1, nullptr));
  if (!result.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_KeyError))
      throw nb::python_error();
    PyErr_Clear();
  }
  return result;
}

/// A grid of one to three integers, within what GPUs allow. Python says what is
/// wrong with others.
static bool readGrid(PyObject *grid, uint32_t (&extents)[3]) {
  bool isTuple = PyTuple_CheckExact(grid);
  Py_ssize_t count = isTuple ? NB_TUPLE_GET_SIZE(grid) : 1;
  if (count < 1 || count > 3)
    return false;
  for (Py_ssize_t i = 0; i != count; ++i) {
    PyObject *item = isTuple ? NB_TUPLE_GET_ITEM(grid, i) : grid;
    if (!PyLong_CheckExact(item))
      return false;
    int overflow = 0;
    long long extent = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow || extent < 0 || extent > (i == 0 ? 0x7FFFFFFF : 0xFFFF))
      return false;
    extents[i] = uint32_t(extent);
  }
  return true;
}

void Dispatcher::start(Query &query, const DeviceStream &place,
                       llvm::ArrayRef<Option> options) const {
  query.device = place.device;
  query.key.addIdentity(place.driver.ptr());
  query.key.add(uint64_t(place.device));
  query.key.add(options.size());
  for (const Option &option : options) {
    query.key.addObject(option.name);
    query.key.addObject(option.value);
  }
}

std::shared_ptr<Dispatcher::Entry> Dispatcher::find(const Query &query) const {
  // Comparing may run Python, and with it another launch that adds an entry or
  // forgets one.
  llvm::SmallVector<std::shared_ptr<Entry>, 4> candidates;
  auto [begin, end] = entries.equal_range(query.key.hash);
  for (auto it = begin; it != end; ++it)
    candidates.push_back(it->second);
  for (const std::shared_ptr<Entry> &entry : candidates)
    if (entry->key.equals(query.key) && !entry->isForgotten)
      return entry;
  return nullptr;
}

/// The kernel for a launch; null also where an argument cannot be described,
/// of which Python says what is wrong.
std::shared_ptr<Dispatcher::Entry>
Dispatcher::findFor(Query &query, const DeviceStream &place,
                    llvm::ArrayRef<Option> options, PyObject *const *values) {
  try {
    start(query, place, options);
    addValues(query, values);
  } catch (nb::python_error &) {
    return nullptr;
  }
  return find(query);
}

/// Whether the driver was not asked: Python launches something else.
static bool isNotLaunched(const nb::object &result) {
  return PyLong_CheckExact(result.ptr()) && PyLong_AsLong(result.ptr()) < 0;
}

std::optional<bool> Dispatcher::doMeet(llvm::ArrayRef<Pair> pairs,
                                       llvm::ArrayRef<Leaf> arguments) {
  using Extent = std::pair<uint64_t, uint64_t>;
  llvm::SmallVector<std::optional<Extent>, 32> extents(arguments.size());
  auto findExtent = [&](uint32_t i) {
    if (extents[i])
      return true;
    PyObject *value = arguments[i].value;
    dlpack::Tensor tensor;
    if (dlpack::View view = getInfo(value).view) {
      if (view(value, &tensor) == 0)
        extents[i] = tensor.getExtent();
      else
        PyErr_Clear();
    }
    return extents[i].has_value();
  };
  bool isKnown = true;
  for (auto [i, j] : pairs) {
    if (!findExtent(i) || !findExtent(j))
      isKnown = false;
    else if (extents[i]->first < extents[j]->second &&
             extents[j]->first < extents[i]->second)
      return true;
  }
  return isKnown ? std::optional(false) : std::nullopt;
}

nb::object Dispatcher::launch(const Entry &entry, const Query &query,
                              const DeviceStream &place, uint32_t x, uint32_t y,
                              uint32_t z) {
  if (x == 0 || y == 0 || z == 0)
    return entry.kernel;
  nb::object keep;
  const PackedLaunch *packed = entry.packed;
  const std::vector<Pair> &disjoint = entry.disjoint;
  llvm::SmallVector<Leaf, 32> passed;
  for (uint32_t index : entry.passed)
    passed.push_back(query.leaves[index]);
  if (packed && !disjoint.empty()) {
    static PyObject *const variant = PyUnicode_InternFromString("variant");
    std::optional<bool> meet = doMeet(disjoint, passed);
    if (!meet || *meet)
      packed = nullptr;
    if (meet && *meet) {
      keep = nb::getattr(entry.launch, nb::handle(variant), nb::none());
      if (nb::isinstance<PackedLaunch>(keep))
        packed = nb::cast<const PackedLaunch *>(keep);
      if (packed && packed->count() != passed.size())
        packed = nullptr;
    }
  }
  if (packed) {
    if (query.foreign) { // The driver knows whether it reaches that memory.
      nb::list arguments;
      for (const Leaf &leaf : passed)
        arguments.append(nb::handle(leaf.value));
      place.driver.attr("check_arguments")(entry.kernel, arguments);
    }
    int code = packed->launch(x, y, z, place.stream, passed.data(),
                              &entry.isForgotten);
    return code == 0 ? entry.kernel : nb::object(nb::int_(code));
  }
  nb::object arguments = nb::steal(PyTuple_New(Py_ssize_t(passed.size())));
  for (size_t i = 0; i != passed.size(); ++i)
    NB_TUPLE_SET_ITEM(arguments.ptr(), Py_ssize_t(i),
                      nb::handle(passed[i].value).inc_ref().ptr());
  if (entry.isForgotten)
    return nb::int_(unloaded);
  nb::object result = entry.launch(x, y, z, place.stream, arguments);
  return isNotLaunched(result) ? result : entry.kernel;
}

nb::object Dispatcher::call(nb::handle grid, PyObject *const *arguments,
                            size_t count, PyObject *keywords) {
  nb::object chosen = nb::borrow(grid);
  if (isOrdinary()) {
    llvm::SmallVector<PyObject *, 32> values(modes.size());
    llvm::SmallVector<Option, 4> options;
    DeviceStream place;
    if (bind(arguments, count, keywords, values.data(), options) &&
        addMode(options) && state.findStream(place)) {
      Query query;
      if (std::shared_ptr<const Entry> entry =
              findFor(query, place, options, values.data())) {
        if (!PyTuple_CheckExact(grid.ptr()) && PyCallable_Check(grid.ptr()))
          chosen = callGrid(grid, values.data());
        if (!chosen.is_valid()) // Python says which names there are.
          return callSlow(grid, arguments, count, keywords);
        uint32_t extents[3] = {1, 1, 1};
        if (readGrid(chosen.ptr(), extents)) {
          nb::object told;
          if (isDescribed()) {
            if (!hasTensorMaps(*entry, query))
              return callSlow(chosen, arguments, count, keywords);
            told = enter(*entry, extents, place, values);
          }
          nb::object result =
              launch(*entry, query, place, extents[0], extents[1], extents[2]);
          if (told.is_valid())
            nb::handle(NB_TUPLE_GET_ITEM(around.ptr(), 2))(told);
          if (!PyLong_CheckExact(result.ptr()))
            return result;
          // Python raises the error, or launches something else.
          if (!isNotLaunched(result))
            return place.driver.attr("raise_launch_error")(
                result, slow.attr("__self__").attr("name"));
        }
      }
    }
  }
  return callSlow(chosen, arguments, count, keywords);
}

/// The mode comes first, as in Python; false where the launch has one itself.
bool Dispatcher::addMode(llvm::SmallVectorImpl<Option> &options) const {
  Option mode = state.getMode();
  if (!mode.value)
    return true;
  for (const Option &option : options)
    if (PyUnicode_Compare(option.name, mode.name) == 0)
      return false;
  options.insert(options.begin(), mode);
  return true;
}

bool Dispatcher::isDescribed() const {
  return !around.is_none() &&
         NB_LIST_GET_SIZE(NB_TUPLE_GET_ITEM(around.ptr(), 0)) != 0;
}

nb::object Dispatcher::enter(const Entry &entry, const uint32_t (&grid)[3],
                             const DeviceStream &place,
                             llvm::ArrayRef<PyObject *> values) const {
  nb::object given = nb::steal(PyTuple_New(Py_ssize_t(values.size())));
  for (size_t i = 0; i != values.size(); ++i)
    NB_TUPLE_SET_ITEM(given.ptr(), Py_ssize_t(i),
                      nb::handle(values[i]).inc_ref().ptr());
  return nb::handle(NB_TUPLE_GET_ITEM(around.ptr(), 1))(
      entry.kernel, nb::make_tuple(grid[0], grid[1], grid[2]), place.stream,
      given);
}

nb::object Dispatcher::callSlow(nb::handle chosen, PyObject *const *arguments,
                                size_t count, PyObject *keywords) {
  nb::object rest = nb::steal(PyTuple_New(Py_ssize_t(count)));
  for (size_t i = 0; i != count; ++i)
    NB_TUPLE_SET_ITEM(rest.ptr(), Py_ssize_t(i),
                      nb::handle(arguments[i]).inc_ref().ptr());
  nb::dict named;
  for (size_t k = 0; keywords && k != size_t(NB_TUPLE_GET_SIZE(keywords)); ++k)
    named[nb::handle(NB_TUPLE_GET_ITEM(keywords, k))] =
        nb::handle(arguments[count + k]);
  return slow(chosen, rest, named);
}

/// Makes the query of a launch from Python, whose options are None, or pairs of
/// names and values.
void Dispatcher::ask(Query &query, const DeviceStream &place,
                     nb::handle options, nb::handle values) {
  if (size_t(NB_TUPLE_GET_SIZE(values.ptr())) != modes.size())
    throw nb::value_error("wrong number of values");
  llvm::SmallVector<Option, 4> chosen;
  if (!options.is_none())
    for (nb::handle option : options)
      chosen.push_back({NB_TUPLE_GET_ITEM(option.ptr(), 0),
                        NB_TUPLE_GET_ITEM(option.ptr(), 1)});
  start(query, place, chosen);
  llvm::SmallVector<PyObject *, 32> items;
  for (size_t i = 0; i != modes.size(); ++i)
    items.push_back(NB_TUPLE_GET_ITEM(values.ptr(), Py_ssize_t(i)));
  addValues(query, items.data());
}

std::shared_ptr<Dispatcher::Entry> Dispatcher::find(nb::object driver,
                                                    int device,
                                                    nb::handle options,
                                                    nb::tuple values) {
  Query query;
  ask(query, {driver, device, 0}, options, values);
  return find(query);
}

nb::object Dispatcher::launch(const Entry &entry, nb::object driver, int device,
                              uint64_t stream, nb::tuple values, uint32_t x,
                              uint32_t y, uint32_t z) {
  DeviceStream place = {driver, device, stream};
  Query query;
  ask(query, place, nb::none(), values);
  return launch(entry, query, place, x, y, z);
}

bool Dispatcher::hasTensorMaps(const Entry &entry, nb::object driver,
                               int device, nb::tuple values) {
  Query query;
  ask(query, {driver, device, 0}, nb::none(), values);
  return hasTensorMaps(entry, query);
}

bool Dispatcher::hasTensorMaps(const Entry &entry, const Query &query) {
  static PyObject *const method = PyUnicode_InternFromString("has_tensor_maps");
  llvm::SmallVector<Leaf, 32> passed;
  for (uint32_t index : entry.passed)
    passed.push_back(query.leaves[index]);
  if (entry.packed)
    return entry.packed->hasTensorMaps(passed.data());
  nb::object ask = nb::getattr(entry.launch, nb::handle(method), nb::none());
  if (ask.is_none())
    return true;
  nb::list arguments;
  for (const Leaf &leaf : passed)
    arguments.append(nb::handle(leaf.value));
  return nb::cast<bool>(ask(nb::tuple(arguments)));
}

std::shared_ptr<Dispatcher::Entry>
Dispatcher::insert(nb::object driver, int device, nb::handle options,
                   nb::tuple values, nb::object kernel, nb::object launch,
                   std::vector<bool> passed, nb::object direct,
                   std::vector<Pair> disjoint) {
  Query query;
  ask(query, {driver, device, 0}, options, values);
  if (passed.size() != query.leaves.size())
    throw nb::value_error("wrong number of arguments at run time");
  auto entry = std::make_shared<Entry>();
  entry->key = std::move(query.key);
  for (PyObject *object : entry->key.objects)
    entry->keepAlive.push_back(nb::borrow(object));
  entry->kernel = std::move(kernel);
  for (size_t i = 0; i != passed.size(); ++i)
    if (passed[i])
      entry->passed.push_back(uint32_t(i));
  if (nb::isinstance<PackedLaunch>(direct)) {
    entry->packed = nb::cast<const PackedLaunch *>(direct);
    if (entry->packed->count() != entry->passed.size())
      throw nb::value_error("the kernel has other parameters");
    for (auto [first, second] : disjoint)
      if (std::max(first, second) >= entry->passed.size())
        throw nb::value_error("a pair of arguments that the kernel lacks");
  }
  entry->launch = std::move(launch);
  entry->direct = std::move(direct);
  entry->disjoint = std::move(disjoint);
  entries.emplace(entry->key.hash, entry);
  return entry;
}

void Dispatcher::forget(nb::handle kernel) {
  // What goes away with an entry may run Python.
  std::vector<std::shared_ptr<Entry>> gone;
  for (auto it = entries.begin(); it != entries.end();) {
    if (!it->second->kernel.is(kernel)) {
      ++it;
      continue;
    }
    it->second->isForgotten = true;
    gone.push_back(std::move(it->second));
    it = entries.erase(it);
  }
}

int Dispatcher::traverse(visitproc visit, void *arg) {
  Py_VISIT(slow.ptr());
  Py_VISIT(hooks.ptr());
  Py_VISIT(around.ptr());
  Py_VISIT(defaults.ptr());
  for (const auto &[hash, entry] : entries) {
    Py_VISIT(entry->kernel.ptr());
    Py_VISIT(entry->launch.ptr());
    Py_VISIT(entry->direct.ptr());
    for (const nb::object &object : entry->keepAlive)
      Py_VISIT(object.ptr());
  }
  if (references)
    for (const auto &[owner, name, value] : *references) {
      Py_VISIT(owner.ptr());
      Py_VISIT(value.ptr());
    }
  return 0;
}

void Dispatcher::clear() {
  // What goes away may run Python.
  auto gone = std::exchange(entries, {});
  slow.reset();
  references.reset();
}

} // namespace tile::python
