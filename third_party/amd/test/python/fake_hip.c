// A HIP run time without a GPU: it records the last launch, and fails when it is told to.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *processor = "gfx942:sramecc+:xnack-";
static int devices = 1, failing_call, failing_code;
enum Call { LOAD = 1, FUNCTION, LAUNCH, UNLOAD };
int fake_loads, fake_unloads, fake_device; // the current one, which the test changes
uint64_t fake_stream;                      // of the last launch
uint32_t fake_geometry[7]; // grid, block, bytes of LDS
uint64_t fake_arguments[8];
int fake_sizes[8], fake_count; // of the arguments, told by the test

void fake_set(const char *name, int count) { processor = name, devices = count; }
void fake_fail(int call, int code) { failing_call = call, failing_code = code; }
static int outcome(int call) {
  int code = call == failing_call ? failing_code : 0;
  if (code)
    failing_call = 0;
  return code;
}

static int busy; // Queries of streams that are still at work; below 0: all.
void fake_stay_busy(int queries) { busy = queries; }
int hipStreamQuery(void *stream) { return busy ? (busy > 0 && --busy, 600) : 0; }
int hipInit(unsigned flags) { return flags; }
int hipGetDeviceCount(int *count) { return *count = devices, 0; }
int hipGetDevice(int *device) { return *device = fake_device, 0; }
int fake_waits, fake_memories, fake_capturing; // waits for the device, pieces of its memory
int hipDeviceSynchronize(void) { return ++fake_waits, 0; }
int hipSetDevice(int device) { return fake_device = device, 0; }
int hipStreamIsCapturing(void *stream, int *status) { return *status = fake_capturing, 0; }
int hipMalloc(void **memory, size_t size) {
  return *memory = calloc(1, size), ++fake_memories, *memory ? 0 : 2;
}
int hipFree(void *memory) { return free(memory), --fake_memories, 0; }
int hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                size_t rows, int kind) {
  for (size_t row = 0; row != rows; ++row)
    memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
  return kind == 2 ? 0 : 21;
}
int hipDeviceGetAttribute(int *value, int which, int device) { return *value = which + device, 0; }
int hipGetDevicePropertiesR0600(char *properties, int device) {
  memset(properties, 0, 1472);
  strcpy(properties, "AMD Instinct");
  strcpy(properties + 1160, processor);
  return device < 0 || device >= devices;
}
const char *hipGetErrorString(int code) { return code == 98 ? "invalid device function" : "other"; }
int hipModuleLoadData(void **module, const void *image) {
  if (memcmp(image, "\177ELF", 4))
    return 200;
  return *module = &fake_loads, ++fake_loads, outcome(LOAD);
}
int hipModuleGetFunction(void **function, void *module, const char *name) {
  return *function = (void *)name, module != &fake_loads ? 400 : outcome(FUNCTION);
}
int hipModuleUnload(void *module) {
  return ++fake_unloads, module != &fake_loads ? 400 : outcome(UNLOAD);
}
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments,
                          void **extra) {
  uint32_t geometry[] = {gx, gy, gz, bx, by, bz, shared};
  memcpy(fake_geometry, geometry, sizeof(geometry));
  for (int i = 0; i < fake_count; ++i) {
    fake_arguments[i] = 0;
    memcpy(&fake_arguments[i], arguments[i], fake_sizes[i]);
  }
  fake_stream = (uint64_t)stream;
  return function == 0 || extra != 0 ? 1 : outcome(LAUNCH);
}
