/* Declarations of functions that CPU loops and GPU kernels share. */
#ifndef SB_KERNELS_FUNCTION_H
#define SB_KERNELS_FUNCTION_H

#if defined(__CUDACC__)
# define SB_FUNCTION static __device__ __forceinline__
# define SB_INLINE static __device__ __forceinline__
# define SB_COLD static __device__ __noinline__
# define SB_CONSTANT static __device__ const
#elif defined(__GNUC__)
# define SB_FUNCTION static inline
# define SB_INLINE static inline __attribute__((always_inline))
# define SB_COLD \
  __attribute__((cold, noinline, unused)) static /* called rarely, or once for many elements */
# define SB_CONSTANT static const
#else
# define SB_FUNCTION static inline
# define SB_INLINE static inline
# define SB_COLD static
# define SB_CONSTANT static const
#endif

#endif
