//===-- GraphLaunches.h - Launches by way of graphs of one node -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver may take half as long for a graph of one kernel, whose parameters
// are set before, as for a launch of the kernel.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_GRAPHLAUNCHES_H
#define TILE_PYTHON_GRAPHLAUNCHES_H

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace tile::python {

struct LaunchConfig;

/// Where the driver's functions are, by what they do. All or none are there.
struct GraphFunctions {
  uint64_t isCapturing = 0, getPriority = 0, create = 0, addKernel = 0,
           instantiate = 0, setParameters = 0, launch = 0, destroyExec = 0,
           destroy = 0;
};

/// The graphs of one kernel: one for each stream, as a graph that is launched
/// again waits for its last launch. Several threads may launch at once.
class GraphLaunches {
public:
  explicit GraphLaunches(const GraphFunctions &functions)
      : functions(functions) {}
  GraphLaunches(const GraphLaunches &) = delete;
  ~GraphLaunches();

  /// Returns the driver's code; nothing where an ordinary launch is needed.
  std::optional<int> launch(const LaunchConfig &config, void *function,
                            void **params);

private:
  struct Graph {
    void *graph = nullptr, *exec = nullptr, *node = nullptr;
  };

  /// The graph for a stream; null where its launches are to be ordinary ones.
  Graph *find(void *stream, const void *parameters);
  void destroy(Graph &graph);

  GraphFunctions functions;
  /// Nothing may come between setting a graph's parameters and its launch.
  std::mutex mutex;
  std::unordered_map<void *, Graph> graphs;
};

} // namespace tile::python

#endif // TILE_PYTHON_GRAPHLAUNCHES_H
