/* The planner's functions are declared in cuda.h. */
#ifndef SB_CUDA_PLAN_H
#define SB_CUDA_PLAN_H

#include "cuda/cuda.h"

#ifdef SB_TEST
extern int64_t sb__cuda_most; /* elements of a launch; 2^31 - 1 */
#endif

#endif
