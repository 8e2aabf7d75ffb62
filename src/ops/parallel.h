/* Splits large work between threads. */
#ifndef SB_PARALLEL_H
#define SB_PARALLEL_H

#include "platform/platform.h"

/* Threads of a large operation: SAMEBYTES_THREADS, else the number of processors. Read once. */
int sb__threads_now(void);
void sb__threads_use(int threads); /* 0: chooses anew at the next call */

/* Parts into which work on nbytes is split; 1: it is too small. */
int sb__parts_for(int64_t nbytes);

/* Calls part for every i below count, on several threads; returns when all are done. */
void sb__parallel(int count, void (*part)(void *context, int i), void *context);

#endif
