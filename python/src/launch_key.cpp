//===-- launch_key.cpp - What tells one launch from another ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dispatcher.h"

#include <algorithm>
#include <cstring>

namespace nb = nanobind;

namespace tile::python {

// What the words of arguments begin with. Integers have the values from 16 on.
enum Tag : uint64_t {
  One = 1,
  Float = 2,
  Boolean = 3,
  None = 4,
  Described = 5,
  Tuple = 6,
  DescriptorTag = 7,
  Pointer = 8,        // And 9: one that is aligned.
  ViewedPointer = 10, // And 11.
  Integer = 16,
};

static nb::object getAttribute(PyObject *object, PyObject *name) {
  nb::object result = nb::steal(PyObject_GetAttr(object, name));
  if (!result.is_valid())
    throw nb::python_error();
  return result;
}

/// An attribute that is a sequence, as a tuple: a list may change while its
/// elements are looked at.
static nb::object getSequence(PyObject *object, PyObject *name) {
  nb::object result =
      nb::steal(PySequence_Tuple(getAttribute(object, name).ptr()));
  if (!result.is_valid())
    throw nb::python_error();
  return result;
}

void Key::addObject(PyObject *object) {
  Py_hash_t value = PyObject_Hash(object);
  if (value == -1)
    throw nb::python_error();
  objects.push_back(object);
  // 1, True and 1.0 are equal but compile to different kernels.
  add(reinterpret_cast<uintptr_t>(Py_TYPE(object)));
  add(uint64_t(value));
}

bool Key::equals(const Key &other) const {
  if (words != other.words || objects.size() != other.objects.size())
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

const Dispatcher::ClassInfo &Dispatcher::getInfo(PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  auto it = classes.find(type);
  if (it != classes.end())
    return it->second;
  ClassInfo info;
  info.self = nb::borrow(reinterpret_cast<PyObject *>(type));
  nb::str name(nb::getattr(info.self, "__name__"));
  if (name.equal(nb::str("TensorDescriptor")))
    info.kind = ClassInfo::Descriptor;
  else if (name.equal(nb::str("TensorDescriptorIm2Col")))
    info.kind = ClassInfo::PixelDescriptor;
  else if (PyObject_HasAttrString(value, "data_ptr") &&
           !name.equal(nb::str("TensorWrapper")))
    info.kind = ClassInfo::Tensor;
  info.hasGetDevice = PyObject_HasAttrString(value, "get_device");
  info.hasIsCuda = PyObject_HasAttrString(value, "is_cuda");
  info.hasLayout = PyObject_HasAttrString(value, "layout");
  info.rounds = PyObject_HasAttrString(value, "round_f32_to_tf32");
  if (info.kind == ClassInfo::Tensor)
    info.view = dlpack::findView(type);
  return classes.emplace(type, std::move(info)).first->second;
}

void Dispatcher::addValues(Query &query, PyObject *const *values) {
  for (size_t i = 0; i != modes.size(); ++i) {
    if (modes[i] == Mode::Constant)
      addConstant(query, values[i]);
    else
      addValue(query, values[i], modes[i]);
  }
}

/// Whether a type hashes and compares by identity, like `object`.
static bool comparesByIdentity(PyTypeObject *type) {
  for (int slot : {Py_tp_hash, Py_tp_richcompare})
    if (PyType_GetSlot(type, slot) != PyType_GetSlot(&PyBaseObject_Type, slot))
      return false;
  return true;
}

void Dispatcher::addConstant(Query &query, PyObject *value) {
  Key &key = query.key;
  PyTypeObject *type = Py_TYPE(value);
  // What is in an instance of a program's class may be edited: Python looks.
  if (PyBool_Check(value) || value == Py_None ||
      (!(PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) &&
       comparesByIdentity(type))) {
    key.addIdentity(value);
    return;
  }
  for (nb::handle cls : state.opaque) {
    if (reinterpret_cast<PyObject *>(type) == cls.ptr()) {
      key.addIdentity(value);
      return;
    }
  }
  if (PyLong_CheckExact(value) || PyUnicode_CheckExact(value)) {
    key.addObject(value);
    return;
  }
  if (PyFloat_CheckExact(value)) {
    // Floats that are equal need not be the same.
    double number = PyFloat_AsDouble(value);
    uint64_t bits;
    std::memcpy(&bits, &number, 8);
    key.add(reinterpret_cast<uintptr_t>(type));
    key.add(bits);
    return;
  }
  // Lists have no hash, and the floats in tuples are as above.
  nb::object hashable = state.constant(nb::handle(value));
  key.addObject(hashable.ptr());
  query.temporaries.push_back(std::move(hashable));
}

void Dispatcher::addValue(Query &query, PyObject *value, Mode mode) {
  Key &key = query.key;
  if (PyLong_CheckExact(value))
    return addInteger(query, value, mode);
  if (PyTuple_Check(value)) {
    key.add(Tag::Tuple);
    key.add(uint64_t(NB_TUPLE_GET_SIZE(value)));
    // Kernels see the names of a named tuple's fields.
    if (!PyTuple_CheckExact(value))
      key.addIdentity(reinterpret_cast<PyObject *>(Py_TYPE(value)));
    Mode inner = mode == Mode::Value ? Mode::Value : Mode::Unaligned;
    for (Py_ssize_t i = 0, e = NB_TUPLE_GET_SIZE(value); i != e; ++i)
      addValue(query, NB_TUPLE_GET_ITEM(value, i), inner);
    return;
  }
  if (PyFloat_CheckExact(value) || PyBool_Check(value) || value == Py_None) {
    key.add(PyFloat_CheckExact(value) ? Tag::Float
            : PyBool_Check(value)     ? Tag::Boolean
                                      : Tag::None);
    query.leaves.push_back({value, 0});
    return;
  }
  const ClassInfo &info = getInfo(value);
  if (info.kind == ClassInfo::Tensor)
    return addTensor(query, value, info, mode);
  if (info.kind == ClassInfo::Descriptor)
    return addDescriptor(query, value, info, mode);
  if (info.kind == ClassInfo::PixelDescriptor)
    return addPixelDescriptor(query, value, mode);
  addDescribed(query, value, mode);
}

void Dispatcher::addInteger(Query &query, PyObject *value, Mode mode) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow) // Rare, and unsigned or an error, which Python tells.
    return addDescribed(query, value, mode);
  query.leaves.push_back({value, 0});
  if (number == 1 && mode != Mode::TypeOnly)
    return query.key.add(Tag::One);
  bool wide = number != int32_t(number);
  // Multiples of 16, of 8, and others.
  unsigned alignment = mode != Mode::Value || number % 8 != 0 ? 0
                       : number % 16 == 0                     ? 2
                                                              : 1;
  // What is known of the sign and the size of an integer is compiled in too.
  bool negative = mode != Mode::TypeOnly && number < 0;
  bool large = mode != Mode::TypeOnly && !wide && number >= 1 << 30;
  query.key.add(Tag::Integer + large * 16 + wide * 8 + negative * 4 +
                alignment);
}

dlpack::View dlpack::findView(PyTypeObject *type) {
  // A class that derives from one with a table may answer otherwise in Python;
  // torch's parameters do not.
  static const char *const name = "__dlpack_c_exchange_api__";
  nb::handle given(reinterpret_cast<PyObject *>(type));
  auto *owner = type;
  if (nb::str(nb::getattr(given, "__name__")).equal(nb::str("Parameter")))
    owner = static_cast<PyTypeObject *>(PyType_GetSlot(type, Py_tp_base));
  nb::handle self(reinterpret_cast<PyObject *>(owner));
  if (!nb::cast<bool>(nb::getattr(self, "__dict__").attr("__contains__")(name)))
    return nullptr;
  if (owner != type &&
      !nb::str("torch.nn.parameter").equal(given.attr("__module__")))
    return nullptr;
  nb::object capsule = nb::getattr(self, name);
  auto *table = static_cast<Exchange *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  PyErr_Clear();
  return table && table->major == 1 ? table->view : nullptr;
}

std::optional<std::pair<uint64_t, uint64_t>> dlpack::Tensor::getExtent() const {
  if (rank != 0 && (!shape || !strides))
    return std::nullopt;
  uint64_t low = getAddress(), high = low;
  uint64_t size = (uint64_t(type.bits) * type.lanes + 7) / 8;
  for (int32_t i = 0; i != rank; ++i) {
    if (shape[i] == 0)
      return std::pair(getAddress(), getAddress());
    uint64_t distance = uint64_t(shape[i] - 1) * uint64_t(strides[i]) * size;
    (strides[i] < 0 ? low : high) += distance;
  }
  return std::pair(low, high + size);
}

/// A tensor as its class's table describes it; none if it does not.
std::optional<dlpack::Tensor> Dispatcher::getView(Query &query, PyObject *value,
                                                  const ClassInfo &info) {
  dlpack::Tensor view;
  if (!info.view)
    return std::nullopt;
  if (info.view(value, &view) != 0) {
    PyErr_Clear(); // The methods in Python say what is wrong.
    return std::nullopt;
  }
  query.foreign |= !view.isOnGPU() || view.deviceIndex != query.device;
  return view;
}

void Dispatcher::addTensor(Query &query, PyObject *value, const ClassInfo &info,
                           Mode mode) {
  if (std::optional<dlpack::Tensor> view = getView(query, value, info)) {
    uint64_t address = view->getAddress();
    query.leaves.push_back({value, address});
    query.key.add(Tag::ViewedPointer +
                  (mode == Mode::Value && address % 16 == 0));
    return query.key.add(view->getType());
  }
  static PyObject *const dataPtr = PyUnicode_InternFromString("data_ptr");
  static PyObject *const getDevice = PyUnicode_InternFromString("get_device");
  static PyObject *const dtypeName = PyUnicode_InternFromString("dtype");
  static PyObject *const isCuda = PyUnicode_InternFromString("is_cuda");
  bool hasGetDevice = info.hasGetDevice, hasIsCuda = info.hasIsCuda;
  nb::object pointer =
      nb::steal(PyObject_CallMethodObjArgs(value, dataPtr, nullptr));
  if (!pointer.is_valid())
    throw nb::python_error();
  nb::object dtype = nb::steal(PyObject_GetAttr(value, dtypeName));
  if (!dtype.is_valid())
    throw nb::python_error();
  uint64_t address = nb::cast<uint64_t>(pointer);
  if (hasGetDevice) {
    nb::object device =
        nb::steal(PyObject_CallMethodObjArgs(value, getDevice, nullptr));
    if (!device.is_valid())
      throw nb::python_error();
    query.foreign |= PyLong_AsLong(device.ptr()) != query.device;
    PyErr_Clear(); // From a device that is no number: foreign.
  } else if (hasIsCuda) {
    nb::object onGPU = nb::steal(PyObject_GetAttr(value, isCuda));
    query.foreign |= !onGPU.is(Py_True);
    PyErr_Clear();
  }
  query.leaves.push_back({value, address});
  query.key.add(Tag::Pointer + (mode == Mode::Value && address % 16 == 0));
  query.key.addIdentity(dtype.ptr());
  query.temporaries.push_back(std::move(dtype));
}

/// A descriptor made on the host, in the order of descriptors.py: its base,
/// shape, strides and padding, and the shape and strides once more.
void Dispatcher::addDescriptor(Query &query, PyObject *value,
                               const ClassInfo &info, Mode mode) {
  static PyObject *const baseName = PyUnicode_InternFromString("base");
  static PyObject *const shapeName = PyUnicode_InternFromString("shape");
  static PyObject *const stridesName = PyUnicode_InternFromString("strides");
  static PyObject *const blockName = PyUnicode_InternFromString("block_shape");
  static PyObject *const paddingName = PyUnicode_InternFromString("padding");
  static PyObject *const dtypeName = PyUnicode_InternFromString("dtype");
  static PyObject *const layoutName = PyUnicode_InternFromString("layout");
  static PyObject *const roundsName =
      PyUnicode_InternFromString("round_f32_to_tf32");
  nb::object base = getAttribute(value, baseName);
  nb::object dtype = getAttribute(base.ptr(), dtypeName);
  nb::object padding = getAttribute(value, paddingName);
  Key &key = query.key;
  key.add(Tag::DescriptorTag);
  key.addIdentity(dtype.ptr());
  nb::object block = getSequence(value, blockName);
  key.add(uint64_t(NB_TUPLE_GET_SIZE(block.ptr())));
  for (Py_ssize_t i = 0, e = NB_TUPLE_GET_SIZE(block.ptr()); i != e; ++i)
    key.add(nb::cast<uint64_t>(
        nb::int_(nb::handle(NB_TUPLE_GET_ITEM(block.ptr(), i)))));
  bool nan = PyUnicode_Check(padding.ptr()) &&
             PyUnicode_CompareWithASCIIString(padding.ptr(), "nan") == 0;
  // Kernels are compiled for zeros out of bounds, and for loads that round.
  bool rounds = info.rounds &&
                PyObject_IsTrue(getAttribute(value, roundsName).ptr()) == 1;
  key.add(nan | rounds << 1);
  if (info.hasLayout) {
    nb::object layout = getAttribute(value, layoutName);
    key.addObject(layout.ptr());
    query.temporaries.push_back(std::move(layout));
  }
  std::optional<dlpack::Tensor> view =
      getView(query, base.ptr(), getInfo(base.ptr()));
  query.leaves.push_back({base.ptr(), view ? view->getAddress() : 0});
  size_t first = query.leaves.size();
  for (PyObject *name : {shapeName, stridesName}) {
    nb::object list = getSequence(value, name);
    for (Py_ssize_t i = 0, e = NB_TUPLE_GET_SIZE(list.ptr()); i != e; ++i) {
      PyObject *extent = NB_TUPLE_GET_ITEM(list.ptr(), i);
      query.leaves.push_back({extent, 0});
      query.temporaries.push_back(nb::borrow(extent));
    }
  }
  size_t last = query.leaves.size();
  // Kernels are compiled for rows of multiples of 16 bytes. From how many
  // elements on that is so depends on their type. They are also compiled for
  // tensors that have elements, and no negative stride.
  size_t rank = (last - first) / 2;
  if (mode == Mode::Value && rank) {
    bool isUsual = true;
    int64_t extent = 0;
    for (size_t i = first; i != last; ++i) {
      int64_t number =
          nb::cast<int64_t>(nb::int_(nb::handle(query.leaves[i].value)));
      isUsual &= i < first + rank ? number > 0 : number >= 0;
      if (i == first + rank - 1)
        extent = number;
    }
    key.add(isUsual ? std::min<int64_t>(extent & -extent, 16) : 0);
  }
  query.leaves.push_back({nan ? Py_True : Py_False, 0});
  for (size_t i = first; i != last; ++i) {
    Leaf again = query.leaves[i];
    query.leaves.push_back(again);
  }
  query.temporaries.push_back(std::move(base));
  query.temporaries.push_back(std::move(dtype));
}

/// Of which pixels are copied. Python takes it apart.
void Dispatcher::addPixelDescriptor(Query &query, PyObject *value, Mode mode) {
  nb::object description = state.describe[size_t(mode)](nb::handle(value));
  query.key.add(Tag::Described);
  query.key.addObject(description.ptr());
  nb::tuple parts(nb::module_::import_("tile.runtime.descriptors")
                      .attr("values")(nb::handle(value)));
  for (nb::handle part : parts)
    query.leaves.push_back({part.ptr(), 0});
  query.temporaries.push_back(std::move(description));
  query.temporaries.push_back(std::move(parts));
}

void Dispatcher::addDescribed(Query &query, PyObject *value, Mode mode) {
  nb::object description = state.describe[size_t(mode)](nb::handle(value));
  query.key.add(Tag::Described);
  query.key.addObject(description.ptr());
  query.leaves.push_back({value, 0});
  query.temporaries.push_back(std::move(description));
}

} // namespace tile::python
