/* Large work is shared out among the processors that the process may use. */
#ifndef SB_PARALLEL_H
#define SB_PARALLEL_H

#include "platform/platform.h"

/* Threads that a large operation uses: SAMEBYTES_THREADS, else the processors. Read once. */
int sb__threads_now(void);
void sb__threads_use(int threads); /* 0: chooses anew at the next call */

/* How many parts work on so many bytes should have; 1: too little to share. */
int sb__parts_for(int64_t nbytes);

/* Calls part for every i below count, on several threads, and comes back when all are done. */
void sb__parallel(int count, void (*part)(void *context, int i), void *context);

#endif
