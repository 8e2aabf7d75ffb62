/* Chooses the table of kernels: the processor's best level. SAMEBYTES_ISA=scalar, avx2, avx512, neon or simd128 forces a
 * level; a level that this processor or build lacks, and any other text, is ignored. Read once, at the first copy. */
#include <stdatomic.h>
#include <string.h>

#include "kernels/kernels.h"
#include "platform/platform.h"

#if defined(__x86_64__)
# include <cpuid.h>

static bool has_f16c(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

int sb__kernels_all(const sb__kernels *all[SB__MOST_LEVELS]) {
  int count = 0;
#if defined(__wasm_simd128__)
  all[count++] = &sb__kernels_simd128; /* engines without SIMD refuse the whole module */
#else
  all[count++] = &sb__kernels_scalar;
#endif
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && has_f16c()) {
    all[count++] = &sb__kernels_avx2;
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi"))
      all[count++] = &sb__kernels_avx512;
  }
#elif defined(__aarch64__)
  all[count++] = &sb__kernels_neon;
#endif
  return count;
}

static const sb__kernels *choose_kernels(void) {
  const char *most = sb__os_environment("SAMEBYTES_ISA");
  const sb__kernels *all[SB__MOST_LEVELS];
  const int count = sb__kernels_all(all);
  for (int i = 0; most && i < count; i++) {
    if (!strcmp(most, all[i]->level)) return all[i];
  }
  return all[count - 1];
}

static _Atomic(const sb__kernels *) in_use;

const sb__kernels *sb__kernels_now(void) {
  const sb__kernels *kernels = atomic_load_explicit(&in_use, memory_order_relaxed);
  if (!kernels) {
    kernels = choose_kernels(); /* all threads choose the same */
    sb__kernels_use(kernels);
  }
  return kernels;
}

void sb__kernels_use(const sb__kernels *kernels) {
  atomic_store_explicit(&in_use, kernels, memory_order_relaxed);
}

const char *sb__level_now(void) { return sb__kernels_now()->level; }
