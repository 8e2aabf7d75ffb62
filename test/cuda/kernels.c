/* All kernels, for the emulator. */
#include "emu.h"

#include "cuda/copy_kernels.h"
#include "cuda/cast_kernels.h"
#include "cuda/random_kernels.h"
