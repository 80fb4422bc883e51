//===-- packed_launch.cpp - Packs arguments and calls the driver ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackedLaunch.h"

#include "tile/Rules/LaunchSteps.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"

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
                           const Attributes &attributes, nb::callable address,
                           TensorMaps maps,
                           const std::vector<std::string> &names,
                           const GraphFunctions &graphFunctions,
                           ScratchMemory scratch)
    : call(reinterpret_cast<Call>(call)),
      function(reinterpret_cast<void *>(function)), threads(threads),
      sharedBytes(sharedBytes), ctas(ctas), address(std::move(address)),
      maps(std::move(maps)), scratch(std::move(scratch)),
      lastMaps(this->maps.slots.size()) {
  if (graphFunctions.launch && attributes.empty())
    graphs = std::make_unique<GraphLaunches>(graphFunctions);
  for (const std::string &type : types) {
    Slot slot = getSlot(type);
    if (slots.size() < names.size())
      slot.name = names[slots.size()];
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

template <typename UseT>
int PackedLaunch::withParameters(const Leaf *arguments, UseT use) const {
  constexpr size_t fewBytes = 1024, fewSlots = 128, fewMaps = 4;
  alignas(16) char localBytes[fewBytes];
  void *localParams[fewSlots];
  TensorMap localMaps[fewMaps];
  std::vector<char> manyBytes;
  std::vector<void *> manyParams;
  std::vector<TensorMap> manyMaps;
  char *buffer = localBytes;
  void **params = localParams;
  TensorMap *tensorMaps = localMaps;
  size_t mapCount = maps.slots.size();
  if (bytes + 8 > fewBytes || slots.size() + mapCount > fewSlots) {
    manyBytes.resize(bytes + 8);
    manyParams.resize(slots.size() + mapCount);
    buffer = manyBytes.data();
    params = manyParams.data();
  }
  if (mapCount > fewMaps) {
    manyMaps.resize(mapCount);
    tensorMaps = manyMaps.data();
  }
  for (size_t i = 0; i != slots.size(); ++i) {
    char *at = buffer + slots[i].offset;
    pack(slots[i], arguments[i], at);
    params[i < maps.at ? i : i + mapCount] = at;
  }
  for (size_t i = 0; i != mapCount; ++i) {
    LastMap &last = lastMaps[i];
    if (Parts parts = readParts(maps.slots[i], buffer);
        !last.isValid || last.parts != parts) {
      last.isValid = encode(maps.slots[i], parts, last.map);
      last.parts = parts;
      if (!last.isValid)
        return noTensorMap;
    }
    tensorMaps[i] = last.map;
    params[maps.at + i] = &tensorMaps[i];
  }
  return use(params);
}

template <typename UseT>
int PackedLaunch::withScratch(const Leaf *arguments, PyObject *memory,
                              UseT use) const {
  if (scratch.size == 0)
    return withParameters(arguments, use);
  llvm::SmallVector<Leaf, 32> all(arguments, arguments + scratch.at);
  all.push_back({memory, 0});
  all.append(arguments + scratch.at, arguments + count());
  return withParameters(all.data(), use);
}

bool PackedLaunch::hasTensorMaps(const Leaf *arguments) const {
  return maps.slots.empty() ||
         withScratch(arguments, Py_None, [](void **) { return 0; }) == 0;
}

int PackedLaunch::launch(uint32_t x, uint32_t y, uint32_t z, uint64_t stream,
                         const Leaf *arguments, const bool *isUnloaded) const {
  // It is the kernel's until the launch returns; what runs later on the stream
  // may have it next.
  nb::object memory;
  if (scratch.size != 0) {
    uint64_t blocks = uint64_t(x) * y * z * ctas;
    memory = scratch.allocate(scratch.size * blocks, scratch.alignment, stream);
    if (memory.is_none())
      return noTensorMap;
  }
  return withScratch(arguments, memory.ptr(), [&](void **params) {
    if (isUnloaded && *isUnloaded)
      return unloaded;
    LaunchConfig config = {{x * ctas, y, z},
                           {threads, 1, 1},
                           sharedBytes,
                           reinterpret_cast<void *>(stream),
                           const_cast<LaunchAttribute *>(attributes.data()),
                           uint32_t(attributes.size())};
    // A launch may wait for room in the stream's queue.
    nb::gil_scoped_release release;
    if (graphs)
      if (std::optional<int> code = graphs->launch(config, function, params))
        return *code;
    return call(&config, function, params, nullptr);
  });
}

PackedLaunch::Parts PackedLaunch::readParts(const TensorMapSlot &slot,
                                            const char *parameters) const {
  if (slot.pixels)
    return readPixelParts(slot, parameters);
  if (!slot.parts.empty())
    return computeParts(slot, parameters);
  auto read = [&]<typename T>(size_t index, T value) {
    std::memcpy(&value, parameters + slots[slot.base + index].offset,
                sizeof(T));
    return value;
  };
  size_t rank = slot.box.size();
  Parts parts;
  parts.base = read(0, uint64_t());
  parts.rank = uint32_t(rank);
  // The driver's dimensions start with the innermost one.
  for (size_t i = 0; i != rank; ++i) {
    parts.shape[i] = read(rank - i, int32_t());
    parts.strides[i] = read(2 * rank - i, int64_t());
  }
  parts.fillNaN = read(2 * rank + 1, uint8_t()) & 1;
  return parts;
}

PackedLaunch::Parts PackedLaunch::computeParts(const TensorMapSlot &slot,
                                               const char *parameters) const {
  llvm::SmallVector<int64_t, 32> values;
  rules::runLaunchSteps(slot.code, values, [&](int64_t number) {
    uint64_t value = 0;
    std::memcpy(&value, parameters + slots[number].offset, slots[number].size);
    return value;
  });
  size_t rank = slot.box.size();
  Parts parts;
  parts.base = uint64_t(values[slot.parts[0]]);
  parts.rank = uint32_t(rank);
  for (size_t i = 0; i != rank; ++i) {
    parts.shape[i] = values[slot.parts[rank - i]];
    parts.strides[i] = values[slot.parts[2 * rank - i]];
  }
  return parts;
}

/// There is room for five dimensions, whatever the rank is.
PackedLaunch::Parts PackedLaunch::readPixelParts(const TensorMapSlot &slot,
                                                 const char *parameters) const {
  size_t index = slot.base;
  auto next = [&]<typename T>(T value) {
    std::memcpy(&value, parameters + slots[index++].offset, sizeof(T));
    return value;
  };
  auto fill = [&](auto &all, auto value) {
    for (auto &part : all)
      part = next(value);
  };
  Parts parts;
  parts.base = next(uint64_t());
  fill(parts.shape, int32_t());
  fill(parts.strides, int64_t());
  parts.fillNaN = next(uint8_t()) & 1;
  parts.rank = uint32_t(next(int32_t()));
  fill(parts.elementStrides, int32_t());
  fill(parts.lower, int32_t());
  fill(parts.upper, int32_t());
  size_t rank = std::clamp<size_t>(parts.rank, 3, 5);
  auto reverse = [](auto &all, size_t count) {
    std::reverse(all.begin(), all.begin() + count);
  };
  reverse(parts.shape, rank);
  reverse(parts.strides, rank);
  reverse(parts.elementStrides, rank);
  reverse(parts.lower, rank - 2);
  reverse(parts.upper, rank - 2);
  return parts;
}

bool PackedLaunch::encode(const TensorMapSlot &slot, const Parts &parts,
                          TensorMap &map) const {
  using EncodeTiled =
      int (*)(void *map, int elementType, uint32_t rank, void *base,
              const uint64_t *shape, const uint64_t *strides,
              const uint32_t *box, const uint32_t *elementStrides,
              int interleave, int swizzle, int promotion, int fill);
  using EncodeIm2Col =
      int (*)(void *map, int elementType, uint32_t rank, void *base,
              const uint64_t *shape, const uint64_t *strides, const int *lower,
              const int *upper, uint32_t channels, uint32_t pixels,
              const uint32_t *elementStrides, int interleave, int swizzle,
              int promotion, int fill);
  constexpr int noInterleave = 0, promoteTo128Bytes = 2;
  size_t rank = parts.rank;
  if (rank > 5)
    return false;
  // The stride of the innermost dimension is one.
  uint64_t shape[5], strides[5];
  for (size_t i = 0; i != rank; ++i) {
    // Strides of zero or less are for other accesses, as are rows whose bound
    // cuts one of the pieces of 16 bytes that TMA clips by.
    if (parts.shape[i] < 1 || parts.strides[i] < 1 ||
        (i == 0 && uint64_t(parts.shape[0]) * slot.elementBytes % 16 != 0))
      return false;
    shape[i] = uint64_t(parts.shape[i]);
    if (i != 0)
      strides[i - 1] = uint64_t(parts.strides[i]) * slot.elementBytes;
  }
  shape[0] *= slot.packing;
  auto *base = reinterpret_cast<void *>(parts.base);
  if (slot.pixels)
    return maps.encodePixels &&
           reinterpret_cast<EncodeIm2Col>(maps.encodePixels)(
               &map, int(slot.elementType), uint32_t(rank), base, shape,
               strides, parts.lower.data(), parts.upper.data(), slot.box[0],
               slot.box[1], parts.elementStrides.data(), noInterleave,
               int(slot.swizzle), promoteTo128Bytes, parts.fillNaN) == 0;
  return reinterpret_cast<EncodeTiled>(maps.encode)(
             &map, int(slot.elementType), uint32_t(rank), base, shape, strides,
             slot.box.data(), parts.elementStrides.data(), noInterleave,
             int(slot.swizzle), promoteTo128Bytes, parts.fillNaN) == 0;
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
  // A truth value of NumPy, or nothing that fits.
  std::string type = (isSigned ? "i" : "u") + std::to_string(slot.bits);
  nb::object name = nb::none();
  if (!slot.name.empty())
    name = nb::str(slot.name.c_str());
  nb::object known =
      nb::module_::import_("tile.runtime.scalars")
          .attr("integer")(type.c_str(), nb::handle(value), name);
  uint64_t bits = PyLong_AsUnsignedLongLongMask(known.ptr());
  if (bits == uint64_t(-1) && PyErr_Occurred())
    throw nb::python_error();
  return bits;
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
