#include "cuda/random_kernels.h"
