/* Splits large work between threads. */
#ifndef SB_PARALLEL_H
#define SB_PARALLEL_H

#include "platform/platform.h"

/* Threads of a large operation: SAMEBYTES_THREADS, else the number of processors. Read once. */
int sb__threads_now(void);
void sb__threads_use(int threads); /* 0: chooses anew at the next call */

#define SB__MOST_PARTS 64

/* Parts into which work is split that is worth so many, each of some ten microseconds; 1: it is too small, or there is one thread. */
int sb__parts_worth(int64_t worth);
int sb__parts_for(int64_t nbytes); /* of a copy or a fill */

/* Calls part for every i below count, on several threads; returns when all are done. */
void sb__parallel(int count, void (*part)(void *context, int i), void *context);

#endif
