//===-- cupti_recorder.cpp - Kernels, and the scopes that launched them ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CuptiRecorder.h"

#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <utility>

namespace tile::python::cupti {

//===-- Of each thread ----------------------------------------------------===//

namespace {
struct OfThread {
  Where where;
  bool isNamed = false;
  /// Calls of the run-time library make calls of the driver.
  unsigned depth = 0;
  /// Whether the launch that it is in was captured.
  bool isCaptured = false;
  /// Kernels of the graph that it makes executable.
  uint32_t clonedKernels = 0;
};
} // namespace

static thread_local OfThread thread;

void Recorder::setWhere(Where where) {
  thread.where = where;
  thread.isNamed = true;
  lastPath = where.path;
  lastScope = where.scope;
}

Where Recorder::here() const {
  return thread.isNamed ? thread.where : Where{lastPath, lastScope};
}

//===-- Places ------------------------------------------------------------===//

bool LaunchSite::operator==(const LaunchSite &other) const {
  return path == other.path && epoch == other.epoch && name == other.name &&
         device == other.device && captured.path == other.captured.path &&
         captured.epoch == other.captured.epoch && isReplay == other.isReplay;
}

size_t LaunchSiteHash::operator()(const LaunchSite &place) const {
  size_t hash = place.path;
  for (uint32_t part :
       {place.epoch, place.name, place.device, place.captured.path,
        place.captured.epoch, uint32_t(place.isReplay)})
    hash = hash * 0x9e3779b97f4a7c15u + part;
  return hash;
}

uint32_t Recorder::intern(const char *name) {
  auto [it, isNew] = nameNumbers.try_emplace(name, uint32_t(names.size()));
  if (isNew)
    names.push_back(name);
  return it->second;
}

//===-- Start and stop ----------------------------------------------------===//

Recorder &Recorder::get() {
  // Callbacks come until the process ends.
  static Recorder *recorder = new Recorder;
  return *recorder;
}

/// Traces have the time of day, as the host's events do.
static uint64_t getTime() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

std::string Recorder::start(const std::string &library, size_t size,
                            bool withNvtx, bool withHwTrace) {
  if (isRunning)
    return "";
  if (!functions.library)
    if (std::string reason = functions.open(library); !reason.empty())
      return reason;
  bufferSize = size;

  char otherName[64] = "";
  SubscriberParameters parameters = {sizeof(SubscriberParameters), "tile",
                                     otherName, sizeof(otherName)};
  int result =
      functions.subscribe2
          ? functions.subscribe2(&subscriber, callback, this, &parameters)
          : functions.subscribe(&subscriber, callback, this);
  if (result == severalSubscribers)
    return std::string("another profiler uses CUPTI in this process") +
           (otherName[0] ? ": " + std::string(otherName) : "");
  if (result != success)
    return functions.describe(result);

  auto failed = [&](int result) {
    functions.unsubscribe(subscriber);
    subscriber = nullptr;
    return functions.describe(result);
  };
  if (functions.registerTimestamp)
    functions.registerTimestamp(getTime);
  if (withHwTrace && functions.enableHwTrace)
    if (int result = functions.enableHwTrace(1))
      return failed(result);
  if (int result = functions.registerCallbacks(requestBuffer, completeBuffer))
    return failed(result);
  // Not every library has every call.
  for (const LaunchCall &call : launchCalls)
    functions.enableCallback(1, subscriber, call.domain, call.number);
  for (uint32_t number :
       {GraphCloned, GraphNodeCreated, GraphNodeDestroyStarting,
        GraphExecCreateStarting, GraphExecCreated, GraphExecDestroyStarting,
        GraphNodeCloned})
    functions.enableCallback(1, subscriber, Resource, number);
  if (withNvtx)
    for (uint32_t number :
         {RangePushA, RangePushEx, RangePop, DomainRangePushEx, DomainRangePop})
      functions.enableCallback(1, subscriber, Nvtx, number);
  if (int result = functions.enable(concurrentKernels))
    return failed(result);
  isRunning = true;
  return "";
}

/// A function of the driver; it is loaded where there is a GPU.
static void *findInDriver(const char *name) {
  static void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return driver ? dlsym(driver, name) : nullptr;
}

std::string Recorder::startSampling(unsigned period) {
  if (!isRunning || isSampling)
    return "";
  auto getCurrent =
      reinterpret_cast<int (*)(void **)>(findInDriver("cuCtxGetCurrent"));
  void *context = nullptr;
  if (getCurrent)
    getCurrent(&context);
  functions.enableCallback(1, subscriber, Resource, ModuleLoaded);
  std::string problem = sampler.start(functions, context, period);
  isSampling = problem.empty();
  return problem;
}

void Recorder::stop() {
  if (!isRunning)
    return;
  if (isSampling.exchange(false))
    sampler.stop();
  functions.flushAll(1);
  functions.disable(concurrentKernels);
  functions.unsubscribe(subscriber);
  subscriber = nullptr;
  isRunning = false;
  std::lock_guard lock(mutex);
  launches.clear();
  inFlight.clear();
  nodes.clear();
  execs.clear();
  originalGraphs.clear();
  for (uint8_t *buffer : freeBuffers)
    std::free(buffer);
  freeBuffers.clear();
}

void Recorder::flush(bool force) {
  if (isRunning)
    functions.flushAll(force);
}

bool Recorder::isPending(const std::vector<uint32_t> &epochs) {
  std::lock_guard lock(mutex);
  for (uint32_t one : epochs)
    if (auto it = inFlight.find(one); it != inFlight.end() && it->second > 0)
      return true;
  return false;
}

Recorded Recorder::take() {
  std::lock_guard lock(mutex);
  return std::exchange(recorded, {});
}

std::vector<std::string> Recorder::getNames() {
  std::lock_guard lock(mutex);
  return names;
}

uint32_t Recorder::getOriginalGraph(uint32_t graph) {
  std::lock_guard lock(mutex);
  while (true) {
    auto it = originalGraphs.find(graph);
    if (it == originalGraphs.end() || it->second == graph)
      return graph;
    graph = it->second;
  }
}

uint32_t Recorder::getCapturedGraph(void *stream) {
  using Function =
      int (*)(void *, int *, uint64_t *, void **, const void **, size_t *);
  static auto getCaptureInfo =
      reinterpret_cast<Function>(findInDriver("cuStreamGetCaptureInfo_v2"));
  int status = 0;
  void *graph = nullptr;
  uint32_t id = 0;
  if (isRunning && getCaptureInfo &&
      getCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr) ==
          success &&
      graph)
    functions.graphId(graph, &id);
  return id;
}

//===-- Callbacks ---------------------------------------------------------===//

void Recorder::callback(void *self, uint32_t domain, uint32_t number,
                        const void *data) {
  auto &recorder = *static_cast<Recorder *>(self);
  switch (domain) {
  case DriverApi:
  case RuntimeApi: {
    bool isGraph = domain == DriverApi ? number == 514 || number == 515
                                       : number == 311 || number == 312;
    recorder.onCall(*static_cast<const ApiCall *>(data), isGraph);
    return;
  }
  case Resource:
    recorder.onResource(number, *static_cast<const ResourceCall *>(data));
    return;
  case Nvtx:
    recorder.onNvtx(number, *static_cast<const NvtxData *>(data));
    return;
  }
}

void Recorder::onCall(const ApiCall &call, bool isGraph) {
  if (call.isExit) {
    if (--thread.depth)
      return;
    // A launch that was captured, or refused, has no record.
    int result = call.result ? *static_cast<const int *>(call.result) : 0;
    if (thread.isCaptured || result != 0)
      forget(call.correlation);
    else if (isSampling)
      sampler.collect(call.context);
    return;
  }
  if (thread.depth++)
    return;
  thread.isCaptured = false;
  LaunchInFlight launch;
  launch.where = here();
  launch.epoch = epoch;
  launch.isGraph = isGraph;
  if (locate)
    launch.where.path = locate();
  if (isSampling)
    sampler.addLaunch(call.correlation, launch.where.path, launch.epoch);
  uint32_t exec = 0;
  if (isGraph && functions.graphExecId)
    functions.graphExecId(*static_cast<void *const *>(call.parameters), &exec);

  std::lock_guard lock(mutex);
  if (isGraph) {
    auto it = execs.find(exec);
    bool isKnown = it != execs.end();
    launch.kernels = isKnown ? it->second.kernels : 0;
    Exec known = isKnown ? it->second : Exec();
    recorded.replays.push_back({exec, known.graph, isKnown, known.epoch,
                                call.correlation, launch.where, launch.epoch});
  }
  inFlight[launch.epoch] += launch.kernels;
  launches[call.correlation] = launch;
}

void Recorder::forget(uint32_t correlation) {
  std::lock_guard lock(mutex);
  auto it = launches.find(correlation);
  if (it == launches.end())
    return;
  inFlight[it->second.epoch] -= it->second.kernels;
  if (it->second.isGraph && !recorded.replays.empty() &&
      recorded.replays.back().correlation == correlation)
    recorded.replays.pop_back();
  launches.erase(it);
}

void Recorder::onResource(uint32_t number, const ResourceCall &call) {
  if (number == ModuleLoaded) {
    if (isSampling)
      sampler.addModule(*static_cast<const ModuleCall *>(call.descriptor));
    return;
  }
  const auto &graph = *static_cast<const GraphCall *>(call.descriptor);
  auto idOf = [&](void *node) {
    uint64_t id = 0;
    functions.graphNodeId(node, &id);
    return id;
  };
  auto idOfGraph = [&](void *graph) {
    uint32_t id = 0;
    if (graph)
      functions.graphId(graph, &id);
    return id;
  };
  switch (number) {
  case GraphNodeCreated: {
    thread.isCaptured = true;
    if (graph.nodeType != kernelNode)
      return;
    uint32_t path = locate ? locate() : here().path;
    std::lock_guard lock(mutex);
    nodes[idOf(graph.node)] = {path, epoch};
    return;
  }
  case GraphNodeCloned: {
    if (graph.nodeType != kernelNode)
      return;
    ++thread.clonedKernels;
    std::lock_guard lock(mutex);
    if (auto it = nodes.find(idOf(graph.originalNode)); it != nodes.end()) {
      Captured captured = it->second;
      nodes[idOf(graph.node)] = captured;
    }
    return;
  }
  case GraphNodeDestroyStarting: {
    // Records of its last replay may come later, but nobody destroys a graph
    // that runs: only ids of originals, whose clones were launched, go here.
    return;
  }
  case GraphCloned: {
    uint32_t clone = idOfGraph(graph.graph),
             original = idOfGraph(graph.originalGraph);
    std::lock_guard lock(mutex);
    originalGraphs[clone] = original;
    return;
  }
  case GraphExecCreateStarting:
    thread.clonedKernels = 0;
    return;
  case GraphExecCreated: {
    uint32_t exec = 0;
    if (functions.graphExecId)
      functions.graphExecId(graph.exec, &exec);
    uint32_t id = idOfGraph(graph.graph);
    std::lock_guard lock(mutex);
    execs[exec] = {id, thread.clonedKernels, epoch};
    return;
  }
  case GraphExecDestroyStarting:
    return;
  }
}

void Recorder::onNvtx(uint32_t number, const NvtxData &data) {
  if (!onRange)
    return;
  auto named = [&](const NvtxAttributes *attributes) {
    bool hasText = attributes && attributes->messageType == nvtxAscii;
    onRange(hasText && attributes->message ? attributes->message : "(range)");
  };
  // The parameters of a call, in their order.
  auto *parameters = static_cast<const void *const *>(data.parameters);
  switch (number) {
  case RangePushA:
    onRange(static_cast<const char *>(parameters[0]));
    return;
  case RangePushEx:
    named(static_cast<const NvtxAttributes *>(parameters[0]));
    return;
  case DomainRangePushEx:
    named(static_cast<const NvtxAttributes *>(parameters[1]));
    return;
  case RangePop:
  case DomainRangePop:
    onRange(nullptr);
    return;
  }
}

//===-- Records -----------------------------------------------------------===//

void Recorder::requestBuffer(uint8_t **buffer, size_t *size, size_t *records) {
  Recorder &recorder = get();
  *size = recorder.bufferSize;
  *records = 0; // As many as there is room for.
  {
    std::lock_guard lock(recorder.mutex);
    if (!recorder.freeBuffers.empty()) {
      *buffer = recorder.freeBuffers.back();
      recorder.freeBuffers.pop_back();
      return;
    }
  }
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, (*size + 7) & ~7ull));
  if (!*buffer)
    *size = 0;
}

void Recorder::completeBuffer(void *context, uint32_t stream, uint8_t *buffer,
                              size_t size, size_t valid) {
  Recorder &recorder = get();
  std::lock_guard lock(recorder.mutex);
  void *record = nullptr;
  while (valid &&
         recorder.functions.nextRecord(buffer, valid, &record) == success)
    if (*static_cast<uint32_t *>(record) == concurrentKernels)
      recorder.onKernel(*static_cast<KernelRecord *>(record));
  size_t dropped = 0;
  if (recorder.functions.droppedRecords(context, stream, &dropped) == success)
    recorder.recorded.dropped += dropped;
  if (size == recorder.bufferSize)
    recorder.freeBuffers.push_back(buffer);
  else
    std::free(buffer);
}

void Recorder::onKernel(const KernelRecord &record) {
  LaunchSite place;
  place.epoch = activeEpoch;
  place.name = intern(record.name ? record.name : "(kernel)");
  place.device = record.device;
  uint64_t scope = 0;
  auto it = launches.find(record.correlation);
  // Without a launch that was seen, it stands at the root.
  bool isGraph = false;
  if (it != launches.end()) {
    LaunchInFlight &launch = it->second;
    place.path = launch.where.path;
    place.epoch = launch.epoch;
    scope = launch.where.scope;
    isGraph = launch.isGraph;
    if (isGraph)
      if (auto node = nodes.find(record.graphNode); node != nodes.end()) {
        place.captured = node->second;
        place.isReplay = true;
      }
    if (launch.kernels) {
      --inFlight[launch.epoch];
      if (!--launch.kernels)
        launches.erase(it);
    }
  }
  if (wantsEvents) {
    recorded.events.push_back({place, scope, record.start, record.end,
                               record.stream,
                               isGraph ? record.correlation : 0});
    return;
  }
  Sum &sum = recorded.sums[place];
  ++sum.count;
  sum.nanoseconds += record.end - record.start;
}

} // namespace tile::python::cupti
