#include "cuda/cast_kernels.h"
