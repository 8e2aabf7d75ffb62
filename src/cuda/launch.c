/* Device code: modules are read from beside the library when a kernel of theirs is first launched on a device, kernels are looked up
 * once.
 *
 * A module is a file of machine code for the GPUs that were known when it was built (.fatbin), and one of PTX that older drivers
 * and newer GPUs compile (.ptx). */
#include <string.h>

#include "cuda/internal.h"

enum { MODULES = 16, KERNELS = 512 }; /* of a device; a power of two */

typedef struct module {
  const char *name; /* NULL: none */
  CUmodule handle;
} module;

typedef struct kernel {
  const char *name; /* NULL: none */
  CUfunction handle;
} kernel;

typedef struct code {
  sb__lock lock;
  module modules[MODULES];
  kernel kernels[KERNELS]; /* by hash; not all are taken */
  int count;
} code;

static code *codes[SB__CUDA_DEVICES]; /* made with the first launch; they stay */
static sb__lock lock;

/* ---- Files ---- */

static const char *const places[] = {"", "/cuda", "/../cuda"};
enum { PLACES = sizeof places / sizeof places[0] };

/* The file's bytes with a 0 after them, freed by sb__free; NULL: there is none of that name. */
static void *read_code(const char *folder, const char *name, const char *ending) {
  char path[1200];
  size_t nbytes = 0;
  for (int i = 0; i < PLACES; i++) {
    sb__print(path, sizeof path, "%s%s/%s%s", folder, places[i], name, ending);
    if (sb__os_read_file(path, NULL, 0, &nbytes)) continue;
    char *bytes = sb__alloc(nbytes + 1);
    size_t read = 0;
    if (!bytes) return NULL;
    if (!sb__os_read_file(path, bytes, nbytes, &read)) {
      bytes[read] = 0;
      return bytes;
    }
    sb__free(bytes);
  }
  return NULL;
}

sb_status sb__cuda_check_code(void) {
  char folder[1024], path[1200];
  size_t nbytes = 0;
  const sb_status status = sb__cuda_folder(folder, sizeof folder);
  if (status) return status;
  for (int i = 0; i < PLACES; i++) {
    for (int k = 0; k < 2; k++) {
      sb__print(path, sizeof path, "%s%s/copy%s", folder, places[i], k ? ".ptx" : ".fatbin");
      if (!sb__os_read_file(path, NULL, 0, &nbytes)) return SB_OK;
    }
  }
  return sb__fail(
      SB_ERR_NOT_FOUND,
      "CUDA is not available: there is no device code in %s; this was built without nvcc", folder);
}

/* ---- Modules ---- */

/* Codes by which a driver says that it cannot use machine code which others can. */
static bool is_refused(CUresult result) {
  return result == 200 || result == 209 || result == 218 || result == 222 || result == 300 ||
         result == 223;
}

static sb_status load_module(const char *name, CUmodule *out) {
  char folder[1024];
  sb_status status = sb__cuda_folder(folder, sizeof folder);
  if (status) return status;
  const char *jit = sb__os_environment("SAMEBYTES_CUDA_JIT");
  CUresult first = 0;
  /* What nvcc 13 writes older drivers do not read; some say so with less kind codes. */
  if (sb__cu.version >= 13000 && !(jit && strcmp(jit, "1") == 0)) {
    void *image = read_code(folder, name, ".fatbin");
    if (image) {
      first = sb__cu.cuModuleLoadData(out, image);
      sb__free(image);
      if (!first) return SB_OK;
      if (!is_refused(first)) return sb__cuda_check(first, "loading device code");
    }
  }
  void *image = read_code(folder, name, ".ptx");
  if (!image) {
    if (first) return sb__cuda_check(first, "loading device code");
    return sb__fail(SB_ERR_NOT_FOUND,
                    "there is no device code %s in %s; this was built without nvcc", name, folder);
  }
  const CUresult second = sb__cu.cuModuleLoadData(out, image);
  sb__free(image);
  if (second && first) {
    return sb__fail(SB_ERR_DEVICE,
                    "the driver refused device code %s: %s (code %d), and as PTX %s (code %d)",
                    name, sb__cu_meaning(first), first, sb__cu_meaning(second), second);
  }
  return sb__cuda_check(second, "compiling device code");
}

/* Under the device's lock. */
static sb_status module_of(code *c, const char *name, CUmodule *out) {
  int i = 0;
  for (; i < MODULES && c->modules[i].name; i++) {
    if (strcmp(c->modules[i].name, name) != 0) continue;
    *out = c->modules[i].handle;
    return SB_OK;
  }
  if (i == MODULES) return sb__fail(SB_ERR_MEMORY, "there are more than %d modules", MODULES);
  const sb_status status = load_module(name, out);
  if (!status) c->modules[i] = (module){name, *out};
  return status;
}

static uint32_t hash_of(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619u;
  return hash;
}

static sb_status kernel_of(code *c, const sb__cuda_launch *launch, CUfunction *out) {
  uint32_t i = hash_of(launch->kernel) % KERNELS;
  sb_status status = SB_OK;
  CUmodule handle = NULL;
  CUfunction found = NULL;
  sb__lock_take(&c->lock);
  while (c->kernels[i].name && strcmp(c->kernels[i].name, launch->kernel) != 0)
    i = (i + 1) % KERNELS;
  if (c->kernels[i].name) {
    found = c->kernels[i].handle;
  } else {
    if (c->count == KERNELS - 1) status = sb__fail(SB_ERR_MEMORY, "there are too many kernels");
    if (!status) status = module_of(c, launch->module, &handle);
    if (!status)
      status = sb__cuda_check(sb__cu.cuModuleGetFunction(&found, handle, launch->kernel),
                              launch->kernel);
    if (!status) c->kernels[i] = (kernel){launch->kernel, found}, c->count++;
  }
  sb__lock_drop(&c->lock);
  *out = found;
  return status;
}

static sb_status code_of(int device, code **out) {
  sb__lock_take(&lock);
  if (!codes[device]) {
    codes[device] = sb__alloc(sizeof(code));
    if (codes[device]) memset(codes[device], 0, sizeof(code));
  }
  *out = codes[device];
  sb__lock_drop(&lock);
  return *out ? SB_OK : sb__fail(SB_ERR_MEMORY, "no memory for the list of kernels");
}

sb_status sb__cuda_launch_now(int device, CUstream stream, const sb__cuda_launch *launch) {
  code *c = NULL;
  CUfunction function = NULL;
  sb_status status = code_of(device, &c);
  if (!status) status = kernel_of(c, launch, &function);
  if (status) return status;
  void *parameters[] = {(void *)(uintptr_t)launch->arguments};
  sb__cuda_note(launch->kernel);
  status = sb__cuda_check(sb__cu.cuLaunchKernel(function, launch->grid[0], launch->grid[1],
                                                launch->grid[2], launch->block[0], launch->block[1],
                                                launch->block[2], launch->shared, stream,
                                                parameters, NULL),
                          launch->kernel);
  if (!status && sb__cuda_is_synchronous()) {
    status = sb__cuda_check(sb__cu.cuStreamSynchronize(stream), launch->kernel);
  }
  return status;
}
