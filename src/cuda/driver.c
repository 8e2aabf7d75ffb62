/* The driver library: found, opened and initialised when it is first needed; what its error codes mean; and the state after an error that
 * ends CUDA for the process. */
#include <string.h>

#include "cuda/internal.h"

sb__cu_table sb__cu;

enum { UNTRIED, FAILED, LOADED };

static sb__lock lock;
static atomic_int state;
static int forks_then; /* sb__os_forks when it was loaded */
static char why[640];  /* it could not be loaded */
static bool synchronous;
static char folder[1024]; /* of device code; "": this library's */

/* ---- Words ---- */

const char *sb__cu_meaning(CUresult result) {
  static const struct {
    CUresult result;
    const char *words;
  } table[] = {
      {1, "an argument is invalid"},
      {2, "out of memory"},
      {3, "the driver is not initialised in this process"},
      {4, "the driver is shutting down"},
      {34, "this libcuda is the toolkit's stub for linking, not a driver"},
      {35, "the driver is too old"},
      {46, "the device is busy, or in exclusive use by another process"},
      {100, "no CUDA device was found"},
      {101, "there is no such device"},
      {200, "the driver does not accept this device code"},
      {201, "the context is invalid"},
      {209, "there is no device code for this GPU"},
      {214, "the memory of the GPU had an error that cannot be corrected"},
      {218, "the PTX is invalid"},
      {220, "the link between GPUs had an error that cannot be corrected"},
      {222, "the PTX is newer than the driver"},
      {226, "the hardware contained an error"},
      {304, "the operating system refused"},
      {400, "a handle is invalid"},
      {500, "nothing of that name was found"},
      {600, "not ready"},
      {700, "a kernel accessed an illegal address"},
      {701, "the launch asks for too many resources"},
      {702, "a kernel ran too long"},
      {704, "peer access is enabled already"},
      {709, "somebody reset the device (cudaDeviceReset), and all memory on it is gone"},
      {710, "an assertion failed on the device"},
      {712, "this host memory is registered already"},
      {713, "this host memory is not registered"},
      {714, "the device's stack is corrupt"},
      {715, "a kernel executed an illegal instruction"},
      {716, "a kernel made a misaligned access"},
      {717, "a kernel accessed an address space that it may not"},
      {718, "a kernel's program counter is invalid"},
      {719, "a kernel failed"},
      {721, "a kernel left tensor memory allocated"},
      {800, "it is not permitted"},
      {801, "it is not supported"},
      {802, "the system is not ready; is NVIDIA's fabric manager running?"},
      {803, "driver and driver library differ; restart after the driver was updated"},
      {804, "the forward compatibility library does not support this device or driver"},
      {810, "NVIDIA's MPS server ended this client"},
      {999, "an unknown error; the nvidia-uvm device is often at fault"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (table[i].result == result) return table[i].words;
  }
  const char *name = NULL;
  if (sb__cu.cuGetErrorName) (void)sb__cu.cuGetErrorName(result, &name);
  return name ? name : "an unknown code";
}

/* ---- Finding it ---- */

typedef CUresult (*get_procedure)(const char *name, void **out, int version, uint64_t flags);

/* Names where a driver before 11.3 cannot be asked for versions: those whose present parameters came with a suffix. */
static void *by_name(void *library, const char *name) {
  static const char *const second[] = {
      "cuDeviceTotalMem",   "cuDevicePrimaryCtxRelease",
      "cuCtxPushCurrent",   "cuCtxPopCurrent",
      "cuMemAlloc",         "cuMemFree",
      "cuMemGetInfo",       "cuMemGetAddressRange",
      "cuMemcpyHtoDAsync",  "cuMemcpyDtoHAsync",
      "cuMemcpyDtoDAsync",  "cuMemHostRegister",
      "cuStreamDestroy",    "cuEventDestroy",
      "cuIpcOpenMemHandle", "cuMemHostGetDevicePointer",
      "cuDeviceGetUuid",
  };
  char suffixed[64];
  for (size_t i = 0; i < sizeof second / sizeof second[0]; i++) {
    if (strcmp(second[i], name) != 0) continue;
    sb__print(suffixed, sizeof suffixed, "%s_v2", name);
    return sb__os_symbol(library, suffixed);
  }
  return sb__os_symbol(library, name);
}

static void *find_function(void *library, get_procedure get, const char *name, int version) {
  void *address = NULL;
  if (get && get(name, &address, version, 0) == 0 && address) return address;
  return by_name(library, name);
}

/* POSIX lets an address of data become one of a function. */
static void put_address(void *place, void *address) { memcpy(place, &address, sizeof address); }

static bool fill_table(void *library) {
  get_procedure get = NULL;
  put_address(&get, sb__os_symbol(library, "cuGetProcAddress"));
#define X(name, since, parameters, required)                                                  \
 put_address(&sb__cu.name, find_function(library, get, #name, since));                        \
 if (!sb__cu.name && required) {                                                              \
  sb__print(why, sizeof why,                                                                  \
            "the driver library has no %s; a driver of CUDA 10.0 or later is needed", #name); \
  return false;                                                                               \
 }
  SB__CU_FUNCTIONS(X)
#undef X
  return true;
}

static void *open_library(void) {
  static const char *const places[] = {
      "libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1",
      "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/local/nvidia/lib/libcuda.so.1"};
  const char *named = sb__os_environment("SAMEBYTES_LIBCUDA");
  char text[256], ignored[256];
  void *library = NULL;
  if (named && *named) {
    library = sb__os_library(named, text, sizeof text);
    if (!library)
      sb__print(why, sizeof why, "the library that SAMEBYTES_LIBCUDA names cannot be opened (%s)",
                text);
    return library;
  }
  library = sb__os_library(places[0], text, sizeof text);
  for (size_t i = 1; !library && i < sizeof places / sizeof places[0]; i++) {
    library = sb__os_library(places[i], ignored, sizeof ignored);
  }
  if (!library) {
    sb__print(why, sizeof why,
              "no NVIDIA driver was found (%s); Linux and a driver are all that is needed, no CUDA "
              "toolkit",
              text);
  }
  return library;
}

static bool initialise(void) {
  const CUresult result = sb__cu.cuInit(0);
  if (result) {
    sb__print(why, sizeof why, "the driver's start failed with code %d: %s", result,
              sb__cu_meaning(result));
    return false;
  }
  if (sb__cu.cuDriverGetVersion(&sb__cu.version) || sb__cu.version < 10000) {
    sb__print(why, sizeof why, "the driver is too old: it knows CUDA %d.%d, and 10.0 is needed",
              sb__cu.version / 1000, sb__cu.version % 1000 / 10);
    return false;
  }
  return true;
}

static int load(void) {
  void *library = open_library();
  if (!library || !fill_table(library) || !initialise()) return FAILED;
  const char *text = sb__os_environment("SAMEBYTES_CUDA_SYNC");
  synchronous = text && strcmp(text, "1") == 0;
  forks_then = sb__os_forks();
  return LOADED;
}

/* ---- Lost ---- */

#define NOTES 8

static atomic_bool lost;
static char lost_words[480]; /* written once, before lost is set */
static const char *_Atomic notes[NOTES];
static atomic_uint noted;

void sb__cuda_note(const char *operation) {
  atomic_store_explicit(&notes[atomic_fetch_add(&noted, 1) % NOTES], operation,
                        memory_order_relaxed);
}

void sb__cuda_all_is_well(void) {
  for (int i = 0; i < NOTES; i++) atomic_store_explicit(&notes[i], NULL, memory_order_relaxed);
}

static sb_status say_lost(void) { return sb__fail(SB_ERR_CUDA_CONTEXT_LOST, "%s", lost_words); }

static sb_status lose(CUresult result, const char *operation) {
  sb__lock_take(&lock);
  if (!atomic_load(&lost)) {
    size_t at = (size_t)sb__print(lost_words, sizeof lost_words,
                                  "CUDA failed for good in this process, at %s, with code %d: %s",
                                  operation, result, sb__cu_meaning(result));
    const char *before = "; given to the device before: ";
    const unsigned first = atomic_load(&noted);
    for (unsigned i = 0; i < NOTES; i++) {
      const char *note = atomic_load(&notes[(first + i) % NOTES]);
      if (!note || at + strlen(before) + strlen(note) + 64 > sizeof lost_words) continue;
      at += (size_t)sb__print(lost_words + at, sizeof lost_words - at, "%s%s", before, note);
      before = ", ";
    }
    sb__print(lost_words + at, sizeof lost_words - at, ". Restart the process; the CPU goes on");
    atomic_store(&lost, true);
  }
  sb__lock_drop(&lock);
  return say_lost();
}

bool sb__cuda_is_lost(void) { return atomic_load(&lost); }

/* The codes of which NVIDIA says that the process has to end, those of broken hardware, and that of a context which somebody else
 * has destroyed, with the memory that was ours. */
static bool is_sticky(CUresult result) {
  static const int16_t codes[] = {214, 220, 226, 700, 702, 709, 710, 714,
                                  715, 716, 717, 718, 719, 721, 810, 999};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    if (codes[i] == result) return true;
  }
  return false;
}

sb_status sb__cuda_check(CUresult result, const char *operation) {
  if (result == 0) return SB_OK;
  if (is_sticky(result)) return lose(result, operation);
  if (atomic_load(&lost)) return say_lost();
  const sb_status status = result == SB__CU_OUT_OF_MEMORY   ? SB_ERR_MEMORY
                           : result == SB__CU_NOT_SUPPORTED ? SB_ERR_UNSUPPORTED
                                                            : SB_ERR_DEVICE;
  return sb__fail(status, "%s failed with CUDA's code %d: %s", operation, result,
                  sb__cu_meaning(result));
}

/* ---- State ---- */

bool sb__cuda_is_synchronous(void) { return synchronous; }

bool sb__cuda_is_forked(void) { return sb__os_forks() != forks_then; }

bool sb__cuda_is_usable(void) {
  return atomic_load(&state) == LOADED && !atomic_load(&lost) && !sb__cuda_is_forked();
}

sb_status sb__cuda_load(void) {
  if (atomic_load_explicit(&state, memory_order_acquire) == UNTRIED) {
    sb__lock_take(&lock);
    if (atomic_load(&state) == UNTRIED) atomic_store_explicit(&state, load(), memory_order_release);
    sb__lock_drop(&lock);
  }
  if (atomic_load(&state) == FAILED)
    return sb__fail(SB_ERR_DEVICE, "CUDA is not available: %s", why);
  if (sb__cuda_is_forked()) {
    return sb__fail(
        SB_ERR_DEVICE,
        "CUDA is not available: this process was forked from one that used it; start a new "
        "program instead, as child_process.fork does");
  }
  return atomic_load(&lost) ? say_lost() : SB_OK;
}

/* ---- Device code's folder ---- */

sb_status sb__cuda_set_folder(const char *given) {
  const size_t n = given ? strlen(given) : 0;
  if (n >= sizeof folder) return sb__fail(SB_ERR_ARGUMENT, "the folder's name has %zu bytes", n);
  sb__lock_take(&lock);
  memcpy(folder, given ? given : "", n + 1);
  sb__lock_drop(&lock);
  return SB_OK;
}

sb_status sb__cuda_folder(char *path, size_t room) {
  const char *named = sb__os_environment("SAMEBYTES_CUDA_CODE");
  if (named && named[0] && strlen(named) < room) {
    memcpy(path, named, strlen(named) + 1);
    return SB_OK;
  }
  sb__lock_take(&lock);
  const size_t n = strlen(folder);
  const bool fits = n < room;
  if (fits) memcpy(path, folder, n + 1);
  sb__lock_drop(&lock);
  if (fits && (n || sb__os_folder_of(&lock, path, room))) return SB_OK;
  return sb__fail(SB_ERR_NOT_FOUND, "the folder of device code is not known");
}
