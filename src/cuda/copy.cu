#include "cuda/copy_kernels.h"
