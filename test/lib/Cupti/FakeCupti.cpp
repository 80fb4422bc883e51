//===-- FakeCupti.cpp - A stand-in for libcupti ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Has the functions of CUPTI that tile uses, for machines without a GPU. Tests
// tell it what a program would do (`fake...`): it calls back, and delivers
// records, as the library was seen to do on an H200.
//===----------------------------------------------------------------------===//
#include "CuptiInterface.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tile::python::cupti;

namespace {
struct Fake {
  Callback callback = nullptr;
  void *user = nullptr;
  RequestBuffer request = nullptr;
  CompleteBuffer complete = nullptr;
  uint64_t (*time)() = nullptr;
  std::set<std::pair<uint32_t, uint32_t>> enabled;
  bool isRecording = false, hasHwTrace = false;
  std::string otherSubscriber;
  uint32_t correlation = 0, dropped = 0;
  std::vector<KernelRecord> records;
  std::deque<std::string> names;
  /// For each executable graph its nodes: id and kernel.
  std::map<uint64_t, std::vector<std::pair<uint64_t, std::string>>> execs;
  /// What sampling a context answers.
  int samplingResult = success;
  uint64_t droppedSamples = 0;
  uint32_t period = 0;
  struct Sample {
    std::string function;
    uint64_t offset;
    uint32_t samples, correlation;
  };
  std::deque<Sample> samples;
  std::deque<Sample> taken;
};
} // namespace

static Fake fake;

static void call(uint32_t domain, uint32_t number, const void *data) {
  if (fake.callback && fake.enabled.count({domain, number}))
    fake.callback(fake.user, domain, number, data);
}

static void api(uint32_t domain, uint32_t number, uint32_t correlation,
                const void *parameters, int result, bool isExit) {
  ApiCall data = {};
  data.isExit = isExit;
  data.parameters = parameters;
  data.result = &result;
  data.correlation = correlation;
  call(domain, number, &data);
}

static void record(const char *name, uint64_t nanoseconds, uint32_t correlation,
                   uint32_t stream, uint64_t node) {
  if (!fake.isRecording)
    return;
  fake.names.push_back(name);
  KernelRecord kernel;
  std::memset(&kernel, 0, sizeof kernel);
  kernel.kind = concurrentKernels;
  kernel.start = fake.time ? fake.time() : 1000;
  kernel.end = kernel.start + nanoseconds;
  kernel.stream = stream;
  kernel.correlation = correlation;
  kernel.name = fake.names.back().c_str();
  kernel.graphNode = node;
  fake.records.push_back(kernel);
}

static void *handle(uint64_t id) { return reinterpret_cast<void *>(id); }

extern "C" {

//===-- What tests do -----------------------------------------------------===//

void fakeReset() { fake = Fake(); }
void fakeOtherSubscriber(const char *name) { fake.otherSubscriber = name; }
int fakeHasHwTrace() { return fake.hasHwTrace; }
void fakeDrop(uint32_t records) { fake.dropped = records; }

/// A launch by the run-time library, which calls the driver; `result` is what
/// the call returns.
void fakeLaunch(const char *name, uint64_t nanoseconds, uint32_t stream,
                int result) {
  uint32_t outer = ++fake.correlation;
  api(RuntimeApi, 211, outer, nullptr, 0, false);
  uint32_t inner = ++fake.correlation;
  api(DriverApi, 307, inner, nullptr, 0, false);
  api(DriverApi, 307, inner, nullptr, result, true);
  api(RuntimeApi, 211, outer, nullptr, result, true);
  if (result == success)
    record(name, nanoseconds, outer, stream, 0);
}

/// A launch on a stream that is captured: a node of a graph.
void fakeCapture(uint64_t node) {
  uint32_t correlation = ++fake.correlation;
  api(DriverApi, 652, correlation, nullptr, 0, false);
  GraphCall graph = {};
  graph.node = handle(node);
  graph.nodeType = kernelNode;
  ResourceCall resource = {nullptr, nullptr, &graph};
  call(Resource, GraphNodeCreated, &resource);
  api(DriverApi, 652, correlation, nullptr, 0, true);
}

/// Makes an executable graph of `count` nodes; each gets a new id.
void fakeInstantiate(uint64_t graphId, uint64_t exec, const uint64_t *nodes,
                     const char *const *names, size_t count) {
  GraphCall graph = {};
  graph.graph = handle(graphId);
  graph.exec = handle(exec);
  ResourceCall resource = {nullptr, nullptr, &graph};
  call(Resource, GraphExecCreateStarting, &resource);
  for (size_t i = 0; i < count; ++i) {
    GraphCall clone = graph;
    clone.originalNode = handle(nodes[i]);
    clone.node = handle(nodes[i] + 1000);
    clone.nodeType = kernelNode;
    ResourceCall inner = {nullptr, nullptr, &clone};
    call(Resource, GraphNodeCloned, &inner);
    fake.execs[exec].push_back({nodes[i] + 1000, names[i]});
  }
  call(Resource, GraphExecCreated, &resource);
}

void fakeReplay(uint64_t exec, uint64_t nanoseconds, uint32_t stream) {
  uint32_t correlation = ++fake.correlation;
  struct {
    void *exec, *stream;
  } parameters = {handle(exec), nullptr};
  api(RuntimeApi, 311, correlation, &parameters, 0, false);
  api(RuntimeApi, 311, correlation, &parameters, 0, true);
  for (const auto &[node, name] : fake.execs[exec])
    record(name.c_str(), nanoseconds, correlation, stream, node);
}

void fakeRange(const char *name) {
  const void *parameters[] = {name};
  NvtxData data = {"", parameters, nullptr};
  call(Nvtx, name ? RangePushA : RangePop, &data);
}

void fakeRefuseSampling(int result) { fake.samplingResult = result; }
uint32_t fakePeriod() { return fake.period; }
void fakeDropSamples(uint32_t samples) { fake.droppedSamples = samples; }

/// Samples of the launch that comes next, at an offset that is the line.
void fakeSample(const char *function, uint64_t offset, uint32_t samples) {
  fake.samples.push_back({function, offset, samples, fake.correlation + 1});
}

void fakeLoadModule() {
  ModuleCall module = {1, 4, "code"};
  ResourceCall resource = {nullptr, nullptr, &module};
  call(Resource, ModuleLoaded, &resource);
}

//===-- CUPTI -------------------------------------------------------------===//

int cuptiGetVersion(uint32_t *version) {
  *version = 130000;
  return success;
}
int cuptiGetResultString(int result, const char **text) {
  *text = "an error of the stand-in";
  return success;
}
int cuptiSubscribe(void **subscriber, Callback callback, void *user) {
  fake.callback = callback;
  fake.user = user;
  *subscriber = &fake;
  return success;
}
int cuptiSubscribe_v2(void **subscriber, Callback callback, void *user,
                      SubscriberParameters *parameters) {
  if (fake.otherSubscriber.empty())
    return cuptiSubscribe(subscriber, callback, user);
  std::strncpy(parameters->otherName, fake.otherSubscriber.c_str(),
               parameters->otherSize - 1);
  return severalSubscribers;
}
int cuptiUnsubscribe(void *) {
  fake.callback = nullptr;
  return success;
}
int cuptiEnableCallback(uint32_t enable, void *, uint32_t domain,
                        uint32_t number) {
  fake.enabled.insert({domain, number});
  return success;
}
int cuptiActivityRegisterCallbacks(RequestBuffer request,
                                   CompleteBuffer complete) {
  fake.request = request;
  fake.complete = complete;
  return success;
}
int cuptiActivityRegisterTimestampCallback(uint64_t (*time)()) {
  fake.time = time;
  return success;
}
int cuptiActivityEnableHWTrace(uint8_t enable) {
  fake.hasHwTrace = enable;
  return success;
}
int cuptiActivityEnable(uint32_t) {
  fake.isRecording = true;
  return success;
}
int cuptiActivityDisable(uint32_t) {
  fake.isRecording = false;
  return success;
}
int cuptiActivityFlushAll(uint32_t) {
  size_t next = 0;
  while (next < fake.records.size()) {
    uint8_t *buffer = nullptr;
    size_t size = 0, most = 0;
    fake.request(&buffer, &size, &most);
    size_t count =
        std::min(size / sizeof(KernelRecord), fake.records.size() - next);
    std::memcpy(buffer, &fake.records[next], count * sizeof(KernelRecord));
    next += count;
    fake.complete(nullptr, 0, buffer, size, count * sizeof(KernelRecord));
  }
  fake.records.clear();
  return success;
}
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record) {
  uint8_t *next =
      *record ? static_cast<uint8_t *>(*record) + sizeof(KernelRecord) : buffer;
  if (next >= buffer + valid)
    return 12; // CUPTI_ERROR_MAX_LIMIT_REACHED
  *record = next;
  return success;
}
int cuptiActivityGetNumDroppedRecords(void *, uint32_t, size_t *dropped) {
  *dropped = fake.dropped;
  fake.dropped = 0;
  return success;
}
int cuptiGetGraphNodeId(void *node, uint64_t *id) {
  *id = reinterpret_cast<uint64_t>(node);
  return success;
}
int cuptiGetGraphId(void *graph, uint32_t *id) {
  *id = uint32_t(reinterpret_cast<uint64_t>(graph));
  return success;
}
int cuptiGetGraphExecId(void *exec, uint32_t *id) {
  *id = uint32_t(reinterpret_cast<uint64_t>(exec));
  return success;
}
int cuptiPCSamplingEnable(void *) { return fake.samplingResult; }
int cuptiPCSamplingDisable(void *) { return success; }
int cuptiPCSamplingGetNumStallReasons(void *parameters) {
  *static_cast<CountParameters *>(parameters)->count = 2;
  return success;
}
int cuptiPCSamplingGetStallReasons(void *parameters) {
  auto &reasons = *static_cast<ReasonParameters *>(parameters);
  const char *names[] = {"smsp__pcsamp_warps_issue_stalled_wait",
                         "smsp__pcsamp_warps_issue_stalled_wait_not_issued"};
  for (uint32_t i = 0; i < 2; ++i) {
    reasons.indices[i] = i + 5;
    std::strcpy(reasons.names[i], names[i]);
  }
  return success;
}
int cuptiPCSamplingSetConfigurationAttribute(void *parameters) {
  auto &given = *static_cast<ConfigurationParameters *>(parameters);
  for (size_t i = 0; i < given.count; ++i)
    if (given.attributes[i].kind == Period)
      fake.period = given.attributes[i].number;
  return success;
}
/// Gives two at a time, of kernels that were launched.
int cuptiPCSamplingGetData(void *parameters) {
  auto &data = *static_cast<SampledData *>(
      static_cast<DataParameters *>(parameters)->data);
  data.count = 0;
  data.dropped = std::exchange(fake.droppedSamples, 0);
  fake.taken.clear();
  while (data.count < 2 && !fake.samples.empty()) {
    fake.taken.push_back(fake.samples.front());
    fake.samples.pop_front();
    auto &sample = fake.taken.back();
    SampledPc &pc = data.pcs[data.count++];
    pc.cubin = 42;
    pc.offset = sample.offset;
    pc.function = sample.function.data();
    pc.correlation = sample.correlation;
    pc.reasonCount = 2;
    pc.reasons[0] = {5, sample.samples};
    pc.reasons[1] = {6, sample.samples};
  }
  data.left = fake.samples.size();
  return success;
}
int cuptiGetCubinCrc(void *parameters) {
  static_cast<CrcParameters *>(parameters)->crc = 42;
  return success;
}
int cuptiGetSassToSourceCorrelation(void *parameters) {
  auto &source = *static_cast<SourceParameters *>(parameters);
  source.line = uint32_t(source.offset);
  source.file = strdup("kernel.py");
  source.folder = strdup("/src");
  return success;
}
}
