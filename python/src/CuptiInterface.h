//===-- CuptiInterface.h - What is used of CUPTI --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUPTI is found when a session starts, so nothing of it is needed to build
// tile. These are the parts of its interface that the recorder uses, with the
// layouts that it documents.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_CUPTIINTERFACE_H
#define TILE_PYTHON_CUPTIINTERFACE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tile::python::cupti {

enum Domain : uint32_t {
  DriverApi = 1,
  RuntimeApi = 2,
  Resource = 3,
  Nvtx = 5,
};

enum ResourceEvent : uint32_t {
  ModuleLoaded = 6,
  GraphCloned = 11,
  GraphNodeCreated = 13,
  GraphNodeDestroyStarting = 14,
  GraphExecCreateStarting = 17,
  GraphExecCreated = 18,
  GraphExecDestroyStarting = 19,
  GraphNodeCloned = 20,
};

enum NvtxCall : uint32_t {
  RangePushA = 8,
  RangePushEx = 10,
  RangePop = 11,
  DomainRangePushEx = 33,
  DomainRangePop = 34,
};

/// Calls that launch a kernel, by their number in a domain; those with
/// `isGraph` launch a graph.
struct LaunchCall {
  uint32_t domain, number;
  bool isGraph;
};
inline constexpr LaunchCall launchCalls[] = {
    {DriverApi, 115, false},  {DriverApi, 116, false},
    {DriverApi, 117, false},  {DriverApi, 307, false},
    {DriverApi, 442, false},  {DriverApi, 477, false},
    {DriverApi, 478, false},  {DriverApi, 480, false},
    {DriverApi, 652, false},  {DriverApi, 653, false},
    {DriverApi, 514, true},   {DriverApi, 515, true},
    {RuntimeApi, 13, false},  {RuntimeApi, 211, false},
    {RuntimeApi, 213, false}, {RuntimeApi, 214, false},
    {RuntimeApi, 269, false}, {RuntimeApi, 270, false},
    {RuntimeApi, 272, false}, {RuntimeApi, 430, false},
    {RuntimeApi, 431, false}, {RuntimeApi, 505, false},
    {RuntimeApi, 506, false}, {RuntimeApi, 311, true},
    {RuntimeApi, 312, true},
};

inline constexpr uint32_t concurrentKernels = 10;
/// Of CUptiResult.
inline constexpr int success = 0, severalSubscribers = 39;

struct ApiCall {
  int32_t isExit;
  const char *function;
  const void *parameters;
  const void *result;
  const char *symbol;
  void *context;
  uint32_t contextId;
  uint64_t *data;
  uint32_t correlation;
};

struct ResourceCall {
  void *context;
  void *handle;
  void *descriptor;
};

struct GraphCall {
  void *graph, *originalGraph, *node, *originalNode;
  int32_t nodeType;
  void *dependency;
  void *exec;
};
inline constexpr int32_t kernelNode = 0;

struct ModuleCall {
  uint32_t id;
  size_t size;
  const char *cubin;
};

struct NvtxData {
  const char *function;
  const void *parameters;
  const void *result;
};

struct NvtxAttributes {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved;
  uint64_t payload;
  int32_t messageType;
  const char *message;
};
inline constexpr int32_t nvtxAscii = 1;

struct SubscriberParameters {
  size_t size;
  const char *name;
  char *otherName;
  size_t otherSize;
};

/// What all records of kernels begin with, from CUPTI 12 on.
struct __attribute__((packed, aligned(8))) KernelRecord {
  uint32_t kind;
  uint8_t cacheConfig, sharedConfig;
  uint16_t registers;
  uint32_t cacheRequested, cacheExecuted;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t staticShared, dynamicShared;
  uint32_t localPerThread, localTotal;
  uint32_t correlation;
  int64_t gridId;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launchType, carveoutRequested, carveout, padding;
  uint32_t sharedExecuted;
  uint64_t graphNode;
  uint32_t sharedLimit;
  uint32_t graph;
};

//===-- Samples of the program counter ------------------------------------===//

struct __attribute__((packed, aligned(8))) StallReason {
  uint32_t index, samples;
};
struct __attribute__((packed, aligned(8))) SampledPc {
  size_t size;
  uint64_t cubin, offset;
  uint32_t functionIndex, padding;
  char *function;
  size_t reasonCount;
  StallReason *reasons;
  uint32_t correlation;
};
struct __attribute__((packed, aligned(8))) SampledData {
  size_t size, capacity;
  uint64_t samples, dropped;
  size_t count, left;
  uint64_t range;
  SampledPc *pcs;
  uint64_t otherSamples;
  uint8_t isHardwareBufferFull;
};

// Parameters of its calls.

struct ContextParameters {
  size_t size;
  void *reserved, *context;
};
struct CountParameters {
  size_t size;
  void *reserved, *context;
  size_t *count;
};
struct ReasonParameters {
  size_t size;
  void *reserved, *context;
  size_t count;
  uint32_t *indices;
  char **names;
};
struct Attribute {
  uint32_t kind;
  int32_t status;
  union {
    uint64_t data[3];
    uint32_t number;
    struct {
      size_t count;
      uint32_t *indices;
    } reasons;
    size_t bytes;
    void *buffer;
  };
};
struct ConfigurationParameters {
  size_t size;
  void *reserved, *context;
  size_t count;
  Attribute *attributes;
};
struct DataParameters {
  size_t size;
  void *reserved, *context;
  void *data;
};
struct CrcParameters {
  size_t size, cubinSize;
  const void *cubin;
  uint64_t crc;
};
struct SourceParameters {
  size_t size;
  const void *cubin;
  const char *function;
  size_t cubinSize;
  uint32_t line;
  uint64_t offset;
  char *file, *folder;
};

enum AttributeKind : uint32_t {
  Period = 1,
  Reasons = 2,
  CollectionMode = 5,
  OutputFormat = 7,
  DataBuffer = 8,
};

//===-- The functions -----------------------------------------------------===//

using Callback = void (*)(void *, uint32_t, uint32_t, const void *);
using RequestBuffer = void (*)(uint8_t **, size_t *, size_t *);
using CompleteBuffer = void (*)(void *, uint32_t, uint8_t *, size_t, size_t);

/// The functions of a library that was opened.
struct Functions {
  void *library = nullptr;
  int (*getVersion)(uint32_t *) = nullptr;
  int (*getResultString)(int, const char **) = nullptr;
  int (*subscribe)(void **, Callback, void *) = nullptr;
  int (*subscribe2)(void **, Callback, void *,
                    SubscriberParameters *) = nullptr;
  int (*unsubscribe)(void *) = nullptr;
  int (*enableCallback)(uint32_t, void *, uint32_t, uint32_t) = nullptr;
  int (*registerCallbacks)(RequestBuffer, CompleteBuffer) = nullptr;
  int (*registerTimestamp)(uint64_t (*)()) = nullptr;
  int (*enable)(uint32_t) = nullptr;
  int (*disable)(uint32_t) = nullptr;
  int (*enableHwTrace)(uint8_t) = nullptr;
  int (*flushAll)(uint32_t) = nullptr;
  int (*nextRecord)(uint8_t *, size_t, void **) = nullptr;
  int (*droppedRecords)(void *, uint32_t, size_t *) = nullptr;
  int (*graphNodeId)(void *, uint64_t *) = nullptr;
  int (*graphId)(void *, uint32_t *) = nullptr;
  int (*graphExecId)(void *, uint32_t *) = nullptr;
  // Samples of the program counter; each takes a structure.
  int (*samplingEnable)(void *) = nullptr;
  int (*samplingDisable)(void *) = nullptr;
  int (*samplingConfigure)(void *) = nullptr;
  int (*samplingGetData)(void *) = nullptr;
  int (*samplingReasonCount)(void *) = nullptr;
  int (*samplingReasons)(void *) = nullptr;
  int (*sassToSource)(void *) = nullptr;
  int (*cubinCrc)(void *) = nullptr;

  /// Opens a library; the reason if that does not work, else nothing.
  std::string open(const std::string &path);
  std::string describe(int result) const;
};

} // namespace tile::python::cupti

#endif
