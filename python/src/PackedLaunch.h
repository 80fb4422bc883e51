//===-- PackedLaunch.h - Packs arguments and calls the driver -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_PACKEDLAUNCH_H
#define TILE_PYTHON_PACKEDLAUNCH_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tile::python {
namespace nb = nanobind;

/// One parameter as the driver wants it.
struct Slot {
  char kind; ///< 'p'ointer, 'i'nteger, 'f'loat, 'd'ouble, 'h'alf, 'b'float16
  uint32_t offset; ///< In the buffer of all parameters.
  uint32_t size;
};

/// Packs arguments and calls a C function `int f(config, function, params,
/// extra)`, as cuLaunchKernelEx is one.
class PackedLaunch {
public:
  PackedLaunch(const std::vector<std::string> &types, uint64_t call,
               uint64_t config, uint64_t function, uint64_t grid,
               uint64_t stream, unsigned ctas, nb::callable address)
      : call(reinterpret_cast<Call>(call)),
        config(reinterpret_cast<void *>(config)),
        function(reinterpret_cast<void *>(function)),
        grid(reinterpret_cast<uint32_t *>(grid)),
        stream(reinterpret_cast<uint64_t *>(stream)), ctas(ctas),
        address(std::move(address)) {
    uint32_t offset = 0;
    for (const std::string &type : types) {
      Slot slot = getSlot(type);
      slot.offset = (offset + slot.size - 1) / slot.size * slot.size;
      offset = slot.offset + slot.size;
      slots.push_back(slot);
    }
    buffer = std::make_unique<char[]>(offset + 8);
    for (const Slot &slot : slots)
      params.push_back(buffer.get() + slot.offset);
  }

  int launch(uint32_t x, uint32_t y, uint32_t z, uint64_t streamHandle,
             PyObject *const *values, const uint64_t *pointers) {
    for (size_t i = 0; i != slots.size(); ++i)
      pack(slots[i], values[i], pointers ? pointers[i] : 0);
    grid[0] = x * ctas;
    grid[1] = y;
    grid[2] = z;
    *stream = streamHandle;
    return call(config, function, params.data(), nullptr);
  }
  size_t count() const { return slots.size(); }

private:
  using Call = int (*)(void *, void *, void **, void **);

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
    int bits = std::stoi(type.substr(1));
    return {'i', 0, uint32_t(bits < 8 ? 1 : bits / 8)};
  }

  void pack(const Slot &slot, PyObject *value, uint64_t pointer) {
    char *at = buffer.get() + slot.offset;
    switch (slot.kind) {
    case 'p': {
      if (!pointer && value != Py_None)
        pointer = nb::cast<uint64_t>(address(nb::handle(value)));
      std::memcpy(at, &pointer, 8);
      return;
    }
    case 'i': {
      int overflow = 0;
      long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      uint64_t bits = uint64_t(number);
      if (overflow > 0)
        bits = PyLong_AsUnsignedLongLong(value);
      if (PyErr_Occurred())
        throw nb::python_error();
      std::memcpy(at, &bits, slot.size);
      return;
    }
    default:
      break;
    }
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred())
      throw nb::python_error();
    if (slot.kind == 'd') {
      std::memcpy(at, &number, 8);
      return;
    }
    if (slot.kind == 'h') {
      PyFloat_Pack2(number, at, /*le=*/1);
      return;
    }
    float single = float(number);
    if (slot.kind == 'f') {
      std::memcpy(at, &single, 4);
      return;
    }
    uint32_t bits;
    std::memcpy(&bits, &single, 4);
    // Round to nearest even; a NaN must not become an infinity.
    uint16_t upper = single != single
                         ? 0x7FC0
                         : uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
    std::memcpy(at, &upper, 2);
  }

  Call call;
  void *config, *function;
  uint32_t *grid;
  uint64_t *stream;
  unsigned ctas;
  nb::callable address;
  std::vector<Slot> slots;
  std::vector<void *> params;
  std::unique_ptr<char[]> buffer;
};

} // namespace tile::python

#endif // TILE_PYTHON_PACKEDLAUNCH_H
