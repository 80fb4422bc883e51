//===-- PackedLaunch.h - Packs arguments and calls the driver -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_PACKEDLAUNCH_H
#define TILE_PYTHON_PACKEDLAUNCH_H

#include "GraphLaunches.h"

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tile::python {

/// An argument of a launch: a Python object and, where it is known already, the
/// address that it stands for.
struct Leaf {
  PyObject *value; ///< Borrowed.
  uint64_t pointer;
};

/// One parameter as the driver wants it.
struct Slot {
  char kind; ///< 'p'ointer, 'i'nteger with a sign, 'u'nsigned integer, 'f'loat,
             ///< 'd'ouble, 'h'alf, 'b'float16
  uint32_t offset; ///< In the buffer of all parameters.
  uint32_t size;
  unsigned bits = 0; ///< Of an integer.
  std::string name;  ///< In what is said about it; may be empty.
};

/// The bits of the nearest fp16 or bf16, ties to even; infinity beyond them.
uint16_t roundTo16Bits(double number, bool bfloat);

/// A launch attribute as CUlaunchAttribute has it.
struct LaunchAttribute {
  uint32_t id;
  uint32_t padding;
  std::array<uint32_t, 16> value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  uint32_t attributeCount;
};

/// A tensor map that the driver makes of a descriptor's parts, and that the
/// kernel takes by value. Parts are arguments, or are computed of arguments.
struct TensorMapSlot {
  uint32_t base; ///< The slot of the tensor's base, which the others follow.
  uint32_t elementType, elementBytes, swizzle; ///< Codes as the driver's.
  std::vector<uint32_t> box; ///< Innermost dimension first, as the driver's.
  /// Copies are of pixels: the im2col mode of TMA. `box` has the numbers of
  /// channels and of pixels.
  bool pixels = false;
  /// How many elements of the map an element of the descriptor is, along the
  /// innermost dimension.
  uint32_t packing = 1;
  /// How base, shape and strides are computed of other arguments, where the
  /// program did not ask for the map. A step is a number of `LaunchStep`, and
  /// has two operands.
  std::vector<std::tuple<int64_t, int64_t, int64_t>> code;
  /// The steps that these are, outermost dimension first; else empty.
  std::vector<uint32_t> parts;
};

/// The parameters of a kernel that are tensor maps: they come after the
/// arguments, before scratch memory.
struct TensorMaps {
  uint64_t encode = 0;       ///< cuTensorMapEncodeTiled.
  uint64_t encodePixels = 0; ///< cuTensorMapEncodeIm2col.
  uint32_t at = 0;           ///< How many parameters come before them.
  std::vector<TensorMapSlot> slots;
};

/// Memory that a kernel asks for at each launch, as for descriptors that it
/// makes. Its address is passed behind the arguments.
struct ScratchMemory {
  uint64_t size = 0; ///< Bytes for each block; 0 for none.
  uint64_t alignment = 1;
  uint32_t at = 0; ///< How many parameters come before it.
  /// `(size, alignment, stream)` gives an object with an address, or None: then
  /// the launch returns `noTensorMap`.
  nanobind::object allocate;
};

/// What a launch returns where no tensor map describes a descriptor, or where
/// there is no memory for those that the kernel makes. The driver's codes are
/// positive.
constexpr int noTensorMap = -1;
/// What a launch returns whose kernel was unloaded meanwhile.
constexpr int unloaded = -2;

/// A kernel that a driver has loaded: packs arguments and calls a C function
/// `int f(config, function, params, extra)`, as cuLaunchKernelEx is one.
/// Several threads may launch at once: what a launch changes here are the last
/// maps, with the GIL.
class PackedLaunch {
public:
  using Attributes = std::vector<std::pair<unsigned, std::vector<uint32_t>>>;

  PackedLaunch(const std::vector<std::string> &types, uint64_t call,
               uint64_t function, unsigned threads, unsigned sharedBytes,
               unsigned ctas, const Attributes &attributes,
               nanobind::callable address, TensorMaps maps,
               const std::vector<std::string> &names,
               const GraphFunctions &graphFunctions, ScratchMemory scratch);

  /// Returns the driver's code. Throws for arguments that are no numbers. To
  /// look at them may run Python, and with it something that sets `isUnloaded`.
  int launch(uint32_t x, uint32_t y, uint32_t z, uint64_t stream,
             const Leaf *arguments, const bool *isUnloaded = nullptr) const;
  /// Whether tensor maps describe the descriptors among the arguments.
  bool hasTensorMaps(const Leaf *arguments) const;
  /// How many arguments a launch passes.
  size_t count() const { return slots.size() - (scratch.size != 0); }

private:
  using Call = int (*)(const LaunchConfig *, void *, void **, void **);

  struct alignas(64) TensorMap {
    char bytes[128];
  };

  /// A descriptor as launches pass it: base, extents, strides, padding. The
  /// rest is for copies of pixels. Innermost dimension first.
  struct Parts {
    uint64_t base = 0;
    uint32_t rank = 0;
    std::array<int64_t, 5> shape = {}, strides = {};
    bool fillNaN = false;
    std::array<uint32_t, 5> elementStrides = {1, 1, 1, 1, 1};
    std::array<int32_t, 3> lower = {}, upper = {};
    bool operator==(const Parts &) const = default;
  };
  /// The map that a slot had last. Most launches pass what the one before did.
  struct LastMap {
    Parts parts;
    TensorMap map;
    bool isValid = false;
  };

  /// Calls `use` with the packed parameters, and returns what it does;
  /// `noTensorMap` without calling it where a map is missing.
  template <typename UseT>
  int withParameters(const Leaf *arguments, UseT use) const;
  /// The same with scratch memory among the parameters.
  template <typename UseT>
  int withScratch(const Leaf *arguments, PyObject *memory, UseT use) const;
  void pack(const Slot &slot, const Leaf &argument, char *at) const;
  /// The parts that were packed into `parameters`.
  Parts readParts(const TensorMapSlot &slot, const char *parameters) const;
  Parts readPixelParts(const TensorMapSlot &slot, const char *parameters) const;
  Parts computeParts(const TensorMapSlot &slot, const char *parameters) const;
  /// Makes a map of them; false where none describes them.
  bool encode(const TensorMapSlot &slot, const Parts &parts,
              TensorMap &map) const;

  Call call;
  void *function;
  unsigned threads, sharedBytes, ctas;
  std::vector<LaunchAttribute> attributes;
  nanobind::callable address;
  std::vector<Slot> slots;
  uint32_t bytes = 0; ///< Of all parameters.
  TensorMaps maps;
  ScratchMemory scratch;
  mutable std::vector<LastMap> lastMaps;
  std::unique_ptr<GraphLaunches> graphs; ///< Null for ordinary launches only.
};

} // namespace tile::python

#endif // TILE_PYTHON_PACKEDLAUNCH_H
