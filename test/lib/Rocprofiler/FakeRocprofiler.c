//===-- FakeRocprofiler.c - A stand-in for rocprofiler-sdk ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the profiler uses of the library, as its documents describe it, with
// "launches" that a test makes. Test: test_profiler_rocprofiler.py.
//
//===----------------------------------------------------------------------===//
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
  const char *name;
  uint32_t handle;
} Client;
typedef struct {
  size_t size;
  int (*initialize)(void *, void *);
  void (*finalize)(void *);
  void *data;
} Tool;
typedef Tool *(*Configure)(uint32_t, const char *, uint32_t, Client *);

typedef struct {
  uint64_t size;
  uint32_t kind, operation;
  uint64_t internal, external, thread, start, end;
  struct {
    uint64_t size, agent, queue, kernel, dispatch;
    uint32_t sizes[8];
    uint8_t reserved[56];
  } info;
} Dispatch;
typedef struct {
  uint32_t category, kind;
  void *payload;
} Header;
typedef void (*OnRecords)(uint64_t, uint64_t, Header **, size_t, void *,
                          uint64_t);

/// Before release 1.0, and since.
typedef struct {
  uint64_t context, thread, internal, external;
  uint32_t kind, operation, phase;
  void *payload;
} OldCallback;
typedef struct {
  uint64_t context, thread, internal, external, ancestor;
  uint32_t kind, operation, phase;
  void *payload;
} NewCallback;
typedef struct {
  uint64_t size, kernel, object;
  const char *name;
  uint64_t rest[6];
} Symbol;

enum { success = 0, failure = 1, busy = 14, locked = 16, most = 64 };

static int version = 10000, refused, is_active, flushes_until_free;
static const char *kind_name = "KERNEL_DISPATCH";
static OnRecords on_records;
static void *on_callback;
static Dispatch records[most];
static size_t count;
static uint64_t dropped;
static struct {
  uint64_t thread, ids[most];
  int depth;
} stacks[most];

static uint64_t self(void) { return (uint64_t)syscall(SYS_gettid); }
static int stack_of(uint64_t thread) {
  int i = 0;
  while (i < most - 1 && stacks[i].thread && stacks[i].thread != thread)
    ++i;
  stacks[i].thread = thread;
  return i;
}

// What the test does.

void fake_set(int v, int r, const char *name) {
  version = v;
  refused = r;
  kind_name = name;
  memset(stacks, 0, sizeof stacks);
  count = 0;
  dropped = 0;
  is_active = 0;
}
void fake_drop(uint64_t n) { dropped = n; }
void fake_be_busy(int n) { flushes_until_free = n; }
int fake_depth(void) { return stacks[stack_of(self())].depth; }
int fake_is_active(void) { return is_active; }

void fake_load(uint64_t kernel, const char *name) {
  Symbol symbol = {sizeof symbol, kernel, 1, name, {0}};
  if (version >= 10000) {
    NewCallback record = {1, self(), 2, 0, 3, 10, 2, 1, &symbol};
    ((void (*)(NewCallback, void *, void *))on_callback)(record, 0, 0);
  } else {
    OldCallback record = {1, self(), 2, 0, 10, 2, 1, &symbol};
    ((void (*)(OldCallback, void *, void *))on_callback)(record, 0, 0);
  }
}
void fake_launch(uint64_t kernel, uint64_t agent, uint64_t start,
                 uint64_t end) {
  if (!is_active || count == most)
    return;
  int i = stack_of(self());
  uint64_t id = stacks[i].depth ? stacks[i].ids[stacks[i].depth - 1] : 0;
  Dispatch record = {sizeof record,
                     11,
                     2,
                     count + 1,
                     id,
                     self(),
                     start,
                     end,
                     {72, agent, 5, kernel, count, {0}, {0}}};
  records[count++] = record;
}

// The library.

const char *rocprofiler_get_status_string(int status) {
  return status == locked ? "Function call is not valid outside of rocprofiler "
                            "configuration"
         : status == busy ? "Buffer is busy"
                          : "Generalized error";
}
int rocprofiler_force_configure(Configure configure) {
  if (refused)
    return locked;
  Client client = {0, 1};
  Tool *tool = configure((uint32_t)version, "stand-in", 0, &client);
  if (!tool || tool->size != sizeof(Tool) || strcmp(client.name, "tile"))
    return failure;
  tool->initialize(0, tool->data);
  return success;
}
int rocprofiler_query_buffer_tracing_kind_name(int kind, const char **name,
                                               uint64_t *length) {
  *name = kind_name;
  *length = strlen(kind_name);
  return kind == 11 ? success : failure;
}
int rocprofiler_create_context(uint64_t *context) {
  *context = 7;
  return success;
}
int rocprofiler_create_buffer(uint64_t context, size_t size, size_t watermark,
                              int policy, OnRecords callback, void *data,
                              uint64_t *buffer) {
  on_records = callback;
  *buffer = 9;
  return context == 7 && watermark <= size && policy == 2 && !data ? success
                                                                   : failure;
}
int rocprofiler_configure_buffer_tracing_service(uint64_t context, int kind,
                                                 void *operations, size_t n,
                                                 uint64_t buffer) {
  return context == 7 && kind == 11 && !operations && !n && buffer == 9
             ? success
             : failure;
}
int rocprofiler_configure_callback_tracing_service(uint64_t context, int kind,
                                                   void *operations, size_t n,
                                                   void *callback, void *data) {
  on_callback = callback;
  return context == 7 && kind == 10 && !operations && !n && !data ? success
                                                                  : failure;
}
int rocprofiler_query_available_agents(int v,
                                       int (*callback)(int, const void **,
                                                       size_t, void *),
                                       size_t size, void *data) {
  (void)size;
  // A processor and two GPUs: size, id, type.
  static const uint64_t agents[3][3] = {{24, 100, 1}, {24, 101, 2}, {24, 102, 2}};
  const void *all[3] = {agents[0], agents[1], agents[2]};
  return callback(v, all, 3, data);
}
int rocprofiler_get_timestamp(uint64_t *now) {
  *now = 1000;
  return success;
}
int rocprofiler_start_context(uint64_t context) {
  is_active = 1;
  return context == 7 ? success : failure;
}
int rocprofiler_stop_context(uint64_t context) {
  is_active = 0;
  return context == 7 ? success : failure;
}
int rocprofiler_context_is_active(uint64_t context, int *status) {
  *status = is_active;
  return context == 7 ? success : failure;
}
int rocprofiler_flush_buffer(uint64_t buffer) {
  if (flushes_until_free-- > 0)
    return busy;
  Header headers[most], *all[most];
  for (size_t i = 0; i < count; ++i) {
    headers[i] = (Header){1, 11, records + i};
    all[i] = headers + i;
  }
  on_records(7, buffer, all, count, 0, dropped);
  count = dropped = 0;
  return success;
}
int rocprofiler_push_external_correlation_id(uint64_t context, uint64_t thread,
                                             uint64_t id) {
  int i = stack_of(thread);
  if (context != 7 || stacks[i].depth == most)
    return failure;
  stacks[i].ids[stacks[i].depth++] = id;
  return success;
}
int rocprofiler_pop_external_correlation_id(uint64_t context, uint64_t thread,
                                            uint64_t *last) {
  int i = stack_of(thread);
  if (context != 7 || !stacks[i].depth)
    return failure;
  *last = stacks[i].ids[--stacks[i].depth];
  return success;
}
