//===-- graph_launches.cpp - Launches by way of graphs of one node --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GraphLaunches.h"
#include "PackedLaunch.h"

namespace tile::python {

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  void *function;
  uint32_t grid[3], block[3], sharedBytes;
  void **params, **extra;
  void *kernel, *context;
};

/// Streams that a kernel has graphs for; launches on further ones are ordinary.
constexpr size_t mostStreams = 64;

template <typename... Arguments>
static int call(uint64_t function, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

GraphLaunches::~GraphLaunches() {
  for (auto &[stream, graph] : graphs)
    destroy(graph);
}

void GraphLaunches::destroy(Graph &graph) {
  if (graph.exec)
    call(functions.destroyExec, graph.exec);
  if (graph.graph)
    call(functions.destroy, graph.graph);
  graph = Graph();
}

GraphLaunches::Graph *GraphLaunches::find(void *stream,
                                          const void *parameters) {
  auto it = graphs.find(stream);
  if (it == graphs.end()) {
    if (graphs.size() == mostStreams)
      return nullptr;
    Graph &made = graphs[stream];
    // A node has a priority of its own, whatever that of the stream is.
    int priority = 0;
    bool isUsable =
        call(functions.getPriority, stream, &priority) == 0 && priority == 0 &&
        call(functions.create, &made.graph, 0u) == 0 &&
        call(functions.addKernel, &made.node, made.graph,
             static_cast<void *>(nullptr), size_t(0), parameters) == 0 &&
        call(functions.instantiate, &made.exec, made.graph, 0ull) == 0;
    if (!isUsable)
      destroy(made);
    it = graphs.find(stream);
  }
  return it->second.exec ? &it->second : nullptr;
}

std::optional<int> GraphLaunches::launch(const LaunchConfig &config,
                                         void *function, void **params) {
  std::lock_guard lock(mutex);
  // A graph that is being captured would get the parameters of the first
  // launch.
  int capturing = 0;
  if (call(functions.isCapturing, config.stream, &capturing) != 0 || capturing)
    return std::nullopt;
  KernelNode node = {function,
                     {config.grid[0], config.grid[1], config.grid[2]},
                     {config.block[0], config.block[1], config.block[2]},
                     config.sharedBytes,
                     params,
                     nullptr,
                     nullptr,
                     nullptr};
  Graph *graph = find(config.stream, &node);
  if (!graph ||
      call(functions.setParameters, graph->exec, graph->node, &node) != 0)
    return std::nullopt;
  return call(functions.launch, graph->exec, config.stream);
}

} // namespace tile::python
