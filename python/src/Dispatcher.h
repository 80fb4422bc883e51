//===-- Dispatcher.h - The kernels compiled of one function ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch finds the kernel that was compiled for arguments like these, packs
// the arguments, and calls the driver: a microsecond or two, most of which
// would go to Python. What an argument is compiled as is decided in
// specialize.py; this only tells apart what that tells apart.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_DISPATCHER_H
#define TILE_PYTHON_DISPATCHER_H

#include "DLPackExchange.h"
#include "PackedLaunch.h"

#include <nanobind/nanobind.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tile::python {

/// How a parameter takes part in the key of a launch.
enum class Mode { Value = 0, Unaligned = 1, TypeOnly = 2, Constant = 3 };

/// The key of a launch: numbers, and objects that compare as Python's do.
struct Key {
  llvm::SmallVector<uint64_t, 96> words;
  llvm::SmallVector<PyObject *, 32> objects; ///< Borrowed until it is stored.
  uint64_t hash = 0x9E3779B97F4A7C15u;

  void add(uint64_t word) {
    words.push_back(word);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  /// An object that equals no other.
  void addIdentity(PyObject *object) {
    add(reinterpret_cast<uintptr_t>(object));
    objects.push_back(object);
  }
  /// An object that equals what Python says it does. Throws if it has no hash.
  void addObject(PyObject *object);
  bool equals(const Key &other) const;
};

/// What one launch asks for. Local to it: a user's data_ptr() or __eq__ may run
/// Python, and with it another launch.
struct Query {
  Key key;
  /// The arguments with tuples and descriptors taken apart, without constant
  /// parameters.
  llvm::SmallVector<Leaf, 32> leaves;
  /// What is borrowed from nobody else.
  llvm::SmallVector<nanobind::object, 16> temporaries;
  int device = 0;
  /// A tensor is elsewhere than on the device.
  bool foreign = false;
};

/// A name that an object gives another as a keyword: an option of the compile.
struct Option {
  PyObject *name, *value; ///< Borrowed.
};

/// The stream of a device that a kernel is launched on, and its driver.
struct DeviceStream {
  nanobind::object driver;
  int device = 0;
  uint64_t stream = 0;
};

/// What the launches of all kernels look at; dispatching.py makes one.
class LaunchState {
public:
  /// `drivers` has the driver in use as `_active`. A launch is unusual, and
  /// left to Python, while one of `flags` is in the dictionary `environment`,
  /// one of `overrides` in `settings`, or something in one of the lists
  /// `hooks`. `describe` tells apart what this does not know, by mode;
  /// `constant` makes constants comparable; instances of `opaque` equal only
  /// themselves. `mode` is a dictionary and a name: what it has there, if
  /// anything, is an option of each launch.
  LaunchState(nanobind::object drivers, nanobind::object environment,
              nanobind::tuple flags, nanobind::tuple settings,
              nanobind::tuple overrides, nanobind::tuple hooks,
              nanobind::tuple describe, nanobind::callable constant,
              nanobind::tuple opaque, nanobind::tuple mode);

  bool isOrdinary() const;
  /// What every launch has as an option while it is set; its value is null
  /// where it is not.
  Option getMode() const;
  /// The driver's current device and stream; false if Python has to find out.
  bool findStream(DeviceStream &place);

  nanobind::tuple describe, opaque;
  nanobind::callable constant;

private:
  /// How a driver tells where a thread launches.
  struct DriverFunctions {
    nanobind::object driver, getStream;
    int (*getDevice)(int *) = nullptr;
  };

  nanobind::object drivers, environment;
  nanobind::tuple flags, overrides, hooks;
  nanobind::tuple settings; ///< Dictionaries of what was set in Python.
  nanobind::tuple mode;
  nanobind::dict modules;
  /// Those of the driver that was asked last. Asking runs Python, where another
  /// thread may ask another driver.
  std::shared_ptr<DriverFunctions> functions;
};

class Dispatcher {
public:
  /// `slow(grid, arguments, keywords)` is a launch in Python. Parameters
  /// without a default have `state` itself as theirs. A launch is left to
  /// Python while there is something in the list `hooks`. `around` is None, or
  /// (list, enter, exit): while there is something in the list, a launch is
  /// between `enter(kernel, grid, stream, values)` and `exit` of what that
  /// returned. The first `positional` parameters may be given without a name.
  Dispatcher(nanobind::object state, const std::vector<int> &modes,
             nanobind::tuple names, nanobind::tuple defaults,
             nanobind::list hooks, nanobind::callable slow,
             nanobind::object around, size_t positional);
  Dispatcher(const Dispatcher &) = delete;

  /// A launch as `kernel[grid](...)`: through Python where anything is unusual.
  nanobind::object call(nanobind::handle grid, PyObject *const *arguments,
                        size_t count, PyObject *keywords);

  /// A pair of what a kernel takes.
  using Pair = std::pair<uint32_t, uint32_t>;
  /// A kernel that is compiled and loaded. Whoever calls Python while he needs
  /// one shares it: Python may have us forget it.
  struct Entry {
    Key key;
    std::vector<nanobind::object> keepAlive;
    nanobind::object kernel;
    nanobind::object launch; ///< A PackedLaunch, or any callable.
    nanobind::object direct; ///< Keeps what is next.
    const PackedLaunch *packed = nullptr;
    std::vector<uint32_t> passed; ///< Which of the leaves the kernel takes.
    std::vector<Pair> disjoint;   ///< Of these, for `packed`.
    /// The driver may have unloaded what it launches.
    bool isForgotten = false;
  };

  /// Launches the kernel of an entry for these values of all parameters, and
  /// returns it; an integer if the driver failed, or could not be asked.
  nanobind::object launch(const Entry &entry, nanobind::object driver,
                          int device, uint64_t stream, nanobind::tuple values,
                          uint32_t x, uint32_t y, uint32_t z);
  /// The kernel that is compiled for these values, or null.
  std::shared_ptr<Entry> find(nanobind::object driver, int device,
                              nanobind::handle options, nanobind::tuple values);
  /// Whether there are the tensor maps that a launch with these values needs.
  bool hasTensorMaps(const Entry &entry, nanobind::object driver, int device,
                     nanobind::tuple values);
  /// Where `direct` is a PackedLaunch, it is called in place of `launch` for
  /// arguments of which no `disjoint` pair has memory in common. For others it
  /// is the attribute `variant` of `launch`, once that is one, too.
  std::shared_ptr<Entry>
  insert(nanobind::object driver, int device, nanobind::handle options,
         nanobind::tuple values, nanobind::object kernel,
         nanobind::object launch, std::vector<bool> passed,
         nanobind::object direct, std::vector<Pair> disjoint);
  /// What kernels were compiled with: a dictionary or what has attributes, a
  /// name, a value.
  using References = std::vector<
      std::tuple<nanobind::object, nanobind::object, nanobind::object>>;
  void setReferences(References references) {
    this->references =
        std::make_shared<const References>(std::move(references));
  }

  /// A launch that this kernel was for looks for one again.
  void forget(nanobind::handle kernel);

  int traverse(visitproc visit, void *arg);
  void clear();

private:
  bool hasTensorMaps(const Entry &entry, const Query &query);
  /// Whether a launch is between `enter` and `exit` of `around`.
  bool isDescribed() const;
  nanobind::object enter(const Entry &entry, const uint32_t (&grid)[3],
                         const DeviceStream &place,
                         llvm::ArrayRef<PyObject *> values) const;
  nanobind::object callSlow(nanobind::handle grid, PyObject *const *arguments,
                            size_t count, PyObject *keywords);
  /// What we know of the classes of arguments.
  struct ClassInfo {
    nanobind::object self;
    enum { Other, Tensor, Descriptor, PixelDescriptor } kind = Other;
    bool hasGetDevice = false, hasIsCuda = false;
    /// Descriptors that say how blocks lie in shared memory.
    bool hasLayout = false;
    bool rounds = false; ///< Says whether loads round to tf32.
    dlpack::View view = nullptr;
  };

  bool isOrdinary() const;
  bool bind(PyObject *const *arguments, size_t count, PyObject *keywords,
            PyObject **values, llvm::SmallVectorImpl<Option> &options) const;
  bool addMode(llvm::SmallVectorImpl<Option> &options) const;
  /// What the function of a grid returns; no object if it asks for a name that
  /// is no parameter.
  nanobind::object callGrid(nanobind::handle grid,
                            PyObject *const *values) const;
  void start(Query &query, const DeviceStream &place,
             llvm::ArrayRef<Option> options) const;
  void addValues(Query &query, PyObject *const *values);
  void addConstant(Query &query, PyObject *value);
  void addValue(Query &query, PyObject *value, Mode mode);
  void addInteger(Query &query, PyObject *value, Mode mode);
  void addTensor(Query &query, PyObject *value, const ClassInfo &info,
                 Mode mode);
  std::optional<dlpack::Tensor> getView(Query &query, PyObject *value,
                                        const ClassInfo &info);
  void addDescriptor(Query &query, PyObject *value, const ClassInfo &info,
                     Mode mode);
  void addPixelDescriptor(Query &query, PyObject *value, Mode mode);
  void addDescribed(Query &query, PyObject *value, Mode mode);
  const ClassInfo &getInfo(PyObject *value);
  void ask(Query &query, const DeviceStream &place, nanobind::handle options,
           nanobind::handle values);
  std::shared_ptr<Entry> find(const Query &query) const;
  std::shared_ptr<Entry> findFor(Query &query, const DeviceStream &place,
                                 llvm::ArrayRef<Option> options,
                                 PyObject *const *values);
  nanobind::object launch(const Entry &entry, const Query &query,
                          const DeviceStream &place, uint32_t x, uint32_t y,
                          uint32_t z);
  /// Whether a pair of arguments has memory in common; nothing where arguments
  /// do not tell.
  std::optional<bool> doMeet(llvm::ArrayRef<Pair> pairs,
                             llvm::ArrayRef<Leaf> arguments);

  nanobind::object stateObject;
  LaunchState &state;
  size_t positional;
  std::vector<Mode> modes;
  nanobind::tuple names, defaults;
  nanobind::list hooks;
  nanobind::object around;
  nanobind::callable slow;
  std::shared_ptr<const References> references;
  std::unordered_map<PyTypeObject *, ClassInfo> classes;
  std::unordered_multimap<uint64_t, std::shared_ptr<Entry>> entries;
};

} // namespace tile::python

#endif // TILE_PYTHON_DISPATCHER_H
