//===-- CuptiRecorder.h - Kernels, and the scopes that launched them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python names what a thread is doing by a number, the path, and what is active
// by another, the epoch. A launch takes both along. A callback in the launching
// thread notes them under the correlation id of the call. The record of the
// kernel is found again by it, in the thread in which CUPTI delivers buffers.
// The host never waits for the device.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_CUPTIRECORDER_H
#define TILE_PYTHON_CUPTIRECORDER_H

#include "CuptiSampling.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tile::python::cupti {

/// What a thread is doing.
struct Where {
  uint32_t path = 0;
  uint64_t scope = 0;
};

/// A launch that was captured.
struct Captured {
  uint32_t path = 0, epoch = 0;
};

/// A launch whose kernels were not all recorded.
struct LaunchInFlight {
  Where where;
  uint32_t epoch = 0;
  /// Kernels to come; of graphs that nobody saw made, unknown.
  uint32_t kernels = 1;
  bool isGraph = false;
};

/// Launches of one kernel that the same lines of a program make.
struct LaunchSite {
  uint32_t path = 0, epoch = 0, name = 0, device = 0;
  Captured captured;
  bool isReplay = false;
  bool operator==(const LaunchSite &other) const;
};
struct LaunchSiteHash {
  size_t operator()(const LaunchSite &place) const;
};
struct Sum {
  uint64_t count = 0, nanoseconds = 0;
};

/// One launch, for traces.
struct Event {
  LaunchSite place;
  uint64_t scope = 0, start = 0, end = 0;
  uint32_t stream = 0;
  /// The launch of a graph, by its correlation id; of others 0.
  uint32_t replay = 0;
};

/// A launch of a graph.
struct Replay {
  uint32_t exec, graph;
  /// Whether somebody saw it made, and when.
  bool isKnown;
  uint32_t made;
  uint32_t correlation;
  Where where;
  uint32_t epoch;
};

/// All that was recorded since the last time that somebody asked.
struct Recorded {
  std::unordered_map<LaunchSite, Sum, LaunchSiteHash> sums;
  std::vector<Event> events;
  std::vector<Replay> replays;
  size_t dropped = 0;
};

class Recorder {
public:
  static Recorder &get();

  /// Starts recording with a library. Returns why not, else nothing.
  std::string start(const std::string &library, size_t bufferSize,
                    bool withNvtx, bool withHwTrace);
  void stop();
  /// Samples the program counter of the current context as well, every
  /// 2^period cycles. Returns why not, else nothing.
  std::string startSampling(unsigned period);
  Sampler &getSampler() { return sampler; }
  /// Asks for the buffers of records; with `force`, those that are not full
  /// and in use as well.
  void flush(bool force);
  /// Whether launches of one of these epochs are still to be recorded.
  bool isPending(const std::vector<uint32_t> &epochs);
  Recorded take();
  std::vector<std::string> getNames();
  /// The graph that an executable one was made of; the graph itself if it is
  /// not known.
  uint32_t getOriginalGraph(uint32_t graph);
  /// The graph that a stream is captured into; 0 if it is not.
  uint32_t getCapturedGraph(void *stream);

  /// Of the thread that calls.
  void setWhere(Where where);
  void setEpoch(uint32_t epoch, bool isActive) {
    this->epoch = epoch;
    if (isActive)
      activeEpoch = epoch;
  }
  void setWantsEvents(bool wanted) { wantsEvents = wanted; }

  /// Called in launches, where the path depends on Python's stack.
  std::function<uint32_t()> locate;
  /// Called with the name of an NVTX range that begins; without one, where it
  /// ends.
  std::function<void(const char *)> onRange;

private:
  static void callback(void *, uint32_t domain, uint32_t number,
                       const void *data);
  void onCall(const ApiCall &call, bool isGraph);
  void onResource(uint32_t number, const ResourceCall &call);
  /// What the calling thread does. One that was never named works for the
  /// thread that was named last, as those of torch's backward passes do.
  Where here() const;
  void onNvtx(uint32_t number, const NvtxData &data);
  void forget(uint32_t correlation);
  static void requestBuffer(uint8_t **buffer, size_t *size, size_t *records);
  static void completeBuffer(void *context, uint32_t stream, uint8_t *buffer,
                             size_t size, size_t valid);
  void onKernel(const KernelRecord &record);
  uint32_t intern(const char *name);

  Functions functions;
  Sampler sampler;
  std::atomic<bool> isSampling = false;
  void *subscriber = nullptr;
  bool isRunning = false;
  std::atomic<size_t> bufferSize = 0;
  /// The last one in which a session was active has what nobody launched.
  std::atomic<uint32_t> epoch = 0, activeEpoch = 0;
  std::atomic<bool> wantsEvents = false;
  std::atomic<uint32_t> lastPath = 0;
  std::atomic<uint64_t> lastScope = 0;

  std::mutex mutex;
  std::unordered_map<uint32_t, LaunchInFlight> launches;
  /// Kernels to come, by epoch.
  std::unordered_map<uint32_t, int64_t> inFlight;
  std::unordered_map<uint64_t, Captured> nodes;
  struct Exec {
    uint32_t graph = 0, kernels = 0, epoch = 0;
  };
  std::unordered_map<uint32_t, Exec> execs;
  std::unordered_map<uint32_t, uint32_t> originalGraphs;
  std::unordered_map<std::string, uint32_t> nameNumbers;
  std::vector<std::string> names;
  Recorded recorded;
  std::vector<uint8_t *> freeBuffers;
};

} // namespace tile::python::cupti

#endif
