/* Chooses the table of kernels: the processor's best level. SAMEBYTES_ISA=scalar, avx2, avx512, neon or simd128 forces a
 * level; a level that this processor or build lacks, and any other text, is ignored. Read once, at the first copy. */
#include <stdatomic.h>
#include <string.h>

#include "kernels/kernels.h"
#include "platform/platform.h"

#if defined(__x86_64__)
# include <cpuid.h>

enum { YMM = 0x6, ZMM = 0xe6 }; /* registers that the system saves */

/* Sets what the processor has, and the system saves. Not __builtin_cpu_supports, whose data some linkers lack. */
static void find_levels(bool *avx2, bool *avx512) {
  unsigned a = 0, b = 0, c = 0, d = 0, saved = 0, high = 0;
  *avx2 = *avx512 = false;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_F16C)) return;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
  *avx2 = (saved & YMM) == YMM && b & bit_AVX2;
  *avx512 = *avx2 && (saved & ZMM) == ZMM && b & bit_AVX512F && b & bit_AVX512BW &&
            b & bit_AVX512DQ && b & bit_AVX512VL && c & bit_AVX512VBMI;
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
  bool avx2, avx512;
  find_levels(&avx2, &avx512);
  if (avx2) all[count++] = &sb__kernels_avx2;
  if (avx512) all[count++] = &sb__kernels_avx512;
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
