//===-- packed_launch.cpp - Packs arguments and calls the driver ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackedLaunch.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

namespace nb = nanobind;

namespace tile::python {

static Slot getSlot(const std::string &type) {
  if (type[0] == '*')
    return {'p', 0, 8};
  if (type == "fp32")
    return {'f', 0, 4};
  if (type == "fp64")
    return {'d', 0, 8};
  if (type == "fp16")
    return {'h', 0, 2};
  if (type == "bf16")
    return {'b', 0, 2};
  unsigned bits = std::stoi(type.substr(1));
  return {bits == 1 ? 'u' : type[0], 0, bits < 8 ? 1 : bits / 8, bits};
}

PackedLaunch::PackedLaunch(const std::vector<std::string> &types, uint64_t call,
                           uint64_t function, unsigned threads,
                           unsigned sharedBytes, unsigned ctas,
                           const Attributes &attributes, nb::callable address)
    : call(reinterpret_cast<Call>(call)),
      function(reinterpret_cast<void *>(function)), threads(threads),
      sharedBytes(sharedBytes), ctas(ctas), address(std::move(address)) {
  for (const std::string &type : types) {
    Slot slot = getSlot(type);
    slot.offset = (bytes + slot.size - 1) / slot.size * slot.size;
    bytes = slot.offset + slot.size;
    slots.push_back(slot);
  }
  for (const auto &[id, words] : attributes) {
    LaunchAttribute attribute = {id, 0, {}};
    std::copy_n(words.begin(), std::min<size_t>(words.size(), 16),
                attribute.value.begin());
    this->attributes.push_back(attribute);
  }
}

int PackedLaunch::launch(uint32_t x, uint32_t y, uint32_t z, uint64_t stream,
                         const Leaf *arguments) const {
  constexpr size_t fewBytes = 1024, fewSlots = 128;
  alignas(16) char localBytes[fewBytes];
  void *localParams[fewSlots];
  std::vector<char> manyBytes;
  std::vector<void *> manyParams;
  char *buffer = localBytes;
  void **params = localParams;
  if (bytes + 8 > fewBytes || slots.size() > fewSlots) {
    manyBytes.resize(bytes + 8);
    manyParams.resize(slots.size());
    buffer = manyBytes.data();
    params = manyParams.data();
  }
  for (size_t i = 0; i != slots.size(); ++i) {
    char *at = buffer + slots[i].offset;
    pack(slots[i], arguments[i], at);
    params[i] = at;
  }
  LaunchConfig config = {{x * ctas, y, z},
                         {threads, 1, 1},
                         sharedBytes,
                         reinterpret_cast<void *>(stream),
                         const_cast<LaunchAttribute *>(attributes.data()),
                         uint32_t(attributes.size())};
  // A launch may wait for room in the stream's queue.
  nb::gil_scoped_release release;
  return call(&config, function, params, nullptr);
}

uint16_t roundTo16Bits(double number, bool bfloat) {
  llvm::APFloat value(number);
  bool losesInfo;
  value.convert(bfloat ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf(),
                llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return uint16_t(value.bitcastToAPInt().getZExtValue());
}

/// The bits of an integer; Python says what is wrong with one that does not
/// fit.
static uint64_t toInteger(const Slot &slot, PyObject *value) {
  bool isSigned = slot.kind == 'i';
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow > 0 && !isSigned && slot.bits == 64) {
    uint64_t bits = PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred())
      return bits;
  } else if (!overflow && !PyErr_Occurred() &&
             (isSigned ? llvm::isIntN(slot.bits, number)
                       : number >= 0 &&
                             llvm::isUIntN(slot.bits, uint64_t(number)))) {
    return uint64_t(number);
  }
  PyErr_Clear();
  std::string type = (isSigned ? "i" : "u") + std::to_string(slot.bits);
  nb::module_::import_("tile.runtime.scalars")
      .attr("check")(type, nb::handle(value));
  throw nb::type_error("not an integer");
}

void PackedLaunch::pack(const Slot &slot, const Leaf &argument,
                        char *at) const {
  PyObject *value = argument.value;
  if (slot.kind == 'p') {
    uint64_t pointer = argument.pointer;
    if (!pointer && value != Py_None)
      pointer = nb::cast<uint64_t>(address(nb::handle(value)));
    std::memcpy(at, &pointer, 8);
    return;
  }
  if (slot.kind == 'i' || slot.kind == 'u') {
    uint64_t bits = toInteger(slot, value);
    std::memcpy(at, &bits, slot.size);
    return;
  }
  double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred())
    throw nb::python_error();
  if (slot.kind == 'd') {
    std::memcpy(at, &number, 8);
  } else if (slot.kind == 'f') {
    float single = float(number);
    std::memcpy(at, &single, 4);
  } else {
    uint16_t word = roundTo16Bits(number, slot.kind == 'b');
    std::memcpy(at, &word, 2);
  }
}

} // namespace tile::python
