// A libcuda without a GPU: it keeps the books that the driver keeps, and hands each launch to a
// callback. What a launch costs on the host can be measured with it on any machine.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  void *attributes;
  unsigned count;
} Config;
typedef void (*Callback)(const Config *, void *, void **);

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, LAUNCH_FAILED = 719 };
static int device_count = 1, next_code, next_load_code, sleep_us;
static Callback callback;
static uint64_t accessible[16];
static int accessible_count;
static _Thread_local int current = -1; // The device of the thread's context.
static _Thread_local int pushed = -1;  // The one before it.

int fake_graph_launches, fake_graphs; // Of those that are there, graphs and what runs them.
long long fake_sum;                   // Of first parameters, where pairs are checked.
static int priority, capturing;       // Of all streams.
void fake_set_streams(int p, int c) { priority = p, capturing = c; }

int fake_waits, fake_memories; // Waits for the device, and pieces of its memory.
int fake_launches, fake_loads, fake_unloads, fake_wrong_pairs, fake_maps;
void fake_set(int devices, Callback f, int us) {
  device_count = devices;
  callback = f;
  sleep_us = us;
}
void fake_fail_next(int code) { next_code = code; }
void fake_fail_next_load(int code) { next_load_code = code; }
void fake_make_accessible(uint64_t address) { accessible[accessible_count++ % 16] = address; }
void fake_switch_device(int device) { current = device; }
// Counts launches whose two first parameters, 64 bits wide, do not belong together.
void fake_check_pairs(const Config *config, void *function, void **params) {
  uint64_t a = *(uint64_t *)params[0], b = *(uint64_t *)params[1];
  __atomic_fetch_add(&fake_sum, a, __ATOMIC_RELAXED);
  if (b != a * 3 + config->grid[0])
    __atomic_fetch_add(&fake_wrong_pairs, 1, __ATOMIC_RELAXED);
}

// Like the driver, refuses a process that was forked from one that uses it.
int cuInit(unsigned flags) {
  static pid_t owner;
  if (!owner)
    owner = getpid();
  return owner == getpid() ? 0 : 3;
}
int cuDeviceGetCount(int *count) { return *count = device_count, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  switch (which) {
  case 75: return *value = 9, 0;      // Compute capability
  case 76: return *value = 0, 0;
  case 97: return *value = 232448, 0; // Shared memory of a block
  case 10: return *value = 32, 0;
  case 16: return *value = 132, 0;
  case 12: return *value = 65536, 0;
  default: return *value = 1000, 0;
  }
}
int cuCtxGetCurrent(void **context) { return *context = (void *)(intptr_t)(current + 1), 0; }
int cuCtxSetCurrent(void *context) { return current = (int)(intptr_t)context - 1, 0; }
// One level is enough.
int cuCtxPushCurrent_v2(void *context) {
  pushed = current;
  return cuCtxSetCurrent(context);
}
int cuCtxPopCurrent_v2(void **context) { return current = pushed, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
  return *context = (void *)(intptr_t)(device + 1), 0;
}
int cuCtxGetDevice(int *device) {
  if (current < 0)
    return INVALID_CONTEXT;
  return *device = current, 0;
}
int cuCtxSynchronize(void) { return ++fake_waits, 0; }
// The memory of the device is that of the host. Nothing is zero in it. That of a
// stream is given back to the same one.
uint64_t fake_memory_stream;
int cuMemAlloc_v2(uint64_t *address, size_t size) {
  void *memory = aligned_alloc(256, (size + 255) / 256 * 256);
  if (current < 0 || !memory)
    return current < 0 ? INVALID_CONTEXT : OUT_OF_MEMORY;
  ++fake_memories;
  return *address = (uint64_t)memset(memory, 0xa5, size), 0;
}
int cuMemFree_v2(uint64_t address) { return free((void *)address), --fake_memories, 0; }
int cuMemAllocAsync(uint64_t *address, size_t size, void *stream) {
  return fake_memory_stream = (uint64_t)stream, cuMemAlloc_v2(address, size);
}
int cuMemFreeAsync(uint64_t address, void *stream) {
  return (uint64_t)stream == fake_memory_stream ? cuMemFree_v2(address) : INVALID_CONTEXT;
}
typedef struct {
  size_t x, y;
  int type; // 1: of the host, 2: of the device
  void *host;
  uint64_t device;
  void *array;
  size_t pitch;
} Side;
typedef struct {
  Side from, to;
  size_t width, rows;
} Copy2D;
int cuMemcpy2D_v2(const Copy2D *c) {
  if (current < 0 || c->from.type != 2 || c->to.type != 1 || c->width > c->from.pitch ||
      c->width > c->to.pitch)
    return INVALID_VALUE;
  for (size_t row = 0; row != c->rows; ++row)
    memcpy((char *)c->to.host + row * c->to.pitch, (char *)c->from.device + row * c->from.pitch,
           c->width);
  return 0;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == LAUNCH_FAILED   ? "unspecified launch failure"
          : code == OUT_OF_MEMORY ? "out of memory"
                                  : "invalid argument";
  return 0;
}
int cuPointerGetAttribute(void *value, int which, uint64_t pointer) {
  for (int i = 0; i != 16; ++i)
    if (accessible[i] == pointer && pointer)
      return 0;
  return INVALID_VALUE;
}
// Every page is an allocation, up to the 256th.
int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t pointer) {
  *base = pointer & ~UINT64_C(0xfff), *size = 0x1000;
  return pointer < 0x100000 ? 0 : INVALID_VALUE;
}
int cuModuleLoadData(void **module, const void *image) {
  if (memcmp(image, "\177ELF", 4) != 0)
    return INVALID_VALUE;
  int code = next_load_code;
  next_load_code = 0;
  if (code)
    return code;
  ++fake_loads;
  *module = malloc(64);
  return *(int *)*module = current, 0;
}
// A function of an unloaded module belongs to no device. It stays unfreed, so that a launch of it
// fails and does no harm.
int cuModuleUnload(void *module) {
  if (*(int *)module != current)
    return INVALID_VALUE;
  ++fake_unloads;
  return *(int *)module = -1, 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  // What a function is loaded for is in it: the device.
  return *function = module, 0;
}
// A map is what it was made of, as 32 numbers; refused for tensors of 7 rows.
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *base, const uint64_t *shape,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion, int fill) {
  uint32_t *out = map;
  ++fake_maps;
  if ((uintptr_t)map % 64 || shape[rank - 1] == 7)
    return INVALID_VALUE;
  memset(map, 0, 128);
  out[0] = type, out[1] = rank, out[2] = (uint32_t)(uintptr_t)base, out[3] = swizzle;
  out[4] = fill;
  for (uint32_t i = 0; i < rank; ++i) {
    out[8 + i] = shape[i], out[16 + i] = box[i];
    if (i + 1 < rank)
      out[24 + i] = strides[i];
  }
  return 0;
}
// Of pixels: the corners, as two numbers each, behind what maps of blocks are made of.
int cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, void *base, const uint64_t *shape,
                            const uint64_t *strides, const int *lower, const int *upper,
                            uint32_t channels, uint32_t pixels, const uint32_t *steps,
                            int interleave, int swizzle, int promotion, int fill) {
  const uint32_t box[5] = {channels, pixels};
  uint32_t *out = map;
  int code = cuTensorMapEncodeTiled(map, type, rank, base, shape, strides, box, steps, interleave,
                                    swizzle, promotion, fill);
  for (uint32_t i = 0; i < rank - 2 && !code; ++i)
    out[18 + i] = lower[i], out[21 + i] = upper[i], out[5 + i] = steps[1 + i];
  return code;
}
int cuFuncGetAttribute(int *value, int which, void *function) { return *value = 1024, 0; }
int cuFuncSetAttribute(void *function, int which, int value) { return 0; }
int cuLaunchKernelEx(const Config *config, void *function, void **params, void **extra) {
  if (current < 0)
    return INVALID_CONTEXT;
  if (*(int *)function != current)
    return 400; // Of another device.
  if (sleep_us)
    usleep(sleep_us);
  __atomic_fetch_add(&fake_launches, 1, __ATOMIC_RELAXED);
  if (callback)
    callback(config, function, params);
  int code = next_code;
  next_code = 0;
  return code;
}

// Graphs of one kernel. What a node is given stays where its caller has it: it must be launched
// before that goes away.
typedef struct {
  void *function;
  unsigned grid[3], block[3], shared;
  void **params, **extra, *kernel, *context;
} Node;
typedef struct {
  Node node;
  void *busy; // The stream of its last launch.
} Graph;
static int busy; // Queries of streams that are still at work; below 0: all.
void fake_stay_busy(int queries) { busy = queries; }
int cuStreamQuery(void *stream) { return busy ? (busy > 0 && --busy, 600) : 0; }
int cuStreamIsCapturing(void *stream, int *status) { return *status = capturing, 0; }
int cuStreamGetPriority(void *stream, int *value) { return *value = priority, 0; }
int cuGraphCreate(void **graph, unsigned flags) {
  __atomic_fetch_add(&fake_graphs, 1, __ATOMIC_RELAXED);
  return *graph = calloc(1, sizeof(Graph)), 0;
}
int cuGraphAddKernelNode_v2(void **node, Graph *graph, void *after, size_t count, const Node *given) {
  graph->node = *given;
  return *node = graph, 0;
}
int cuGraphInstantiateWithFlags(void **exec, Graph *graph, unsigned long long flags) {
  __atomic_fetch_add(&fake_graphs, 1, __ATOMIC_RELAXED);
  Graph *made = malloc(sizeof(Graph));
  *made = *graph;
  return *exec = made, 0;
}
int cuGraphExecKernelNodeSetParams_v2(Graph *exec, void *node, const Node *given) {
  if (given->block[0] == 0)
    return INVALID_VALUE;
  return exec->node = *given, 0;
}
int cuGraphLaunch(Graph *exec, void *stream) {
  if (exec->busy && exec->busy != stream)
    return LAUNCH_FAILED; // One stream would wait for the other.
  exec->busy = stream;
  if (sleep_us)
    usleep(sleep_us); // Whoever sets parameters meanwhile, changes this launch.
  __atomic_fetch_add(&fake_graph_launches, 1, __ATOMIC_RELAXED);
  const Node *n = &exec->node;
  Config config = {{n->grid[0], n->grid[1], n->grid[2]}, {n->block[0], n->block[1], n->block[2]},
                   n->shared, stream, NULL, 0};
  return cuLaunchKernelEx(&config, n->function, n->params, n->extra);
}
static int destroy(void *graph) {
  __atomic_fetch_sub(&fake_graphs, 1, __ATOMIC_RELAXED);
  return free(graph), 0;
}
int cuGraphExecDestroy(void *exec) { return destroy(exec); }
int cuGraphDestroy(void *graph) { return destroy(graph); }
