/* Splits large work between threads. */
#ifndef SB_PARALLEL_H
#define SB_PARALLEL_H

#include "platform/platform.h"

#define SB__MOST_PARTS 64

#ifdef __wasm__ /* A call uses one thread there, and the compiler can see that. */
# define SB__ONE_THREAD true
static inline int sb__threads_now(void) { return 1; }
static inline int sb__parts_worth(int64_t worth) { return (void)worth, 1; }
static inline int sb__parts_for(int64_t nbytes) { return (void)nbytes, 1; }
static inline void sb__parallel(int count, void (*part)(void *context, int i), void *context) {
  for (int i = 0; i < count; i++) part(context, i);
}
#else
# define SB__ONE_THREAD false

/* Threads of a large operation: SAMEBYTES_THREADS, else the number of processors. Read once. */
int sb__threads_now(void);
void sb__threads_use(int threads); /* 0: chooses anew at the next call */

/* Parts into which work is split that is worth so many, each of some ten microseconds; 1: it is too small, or there is one thread. */
int sb__parts_worth(int64_t worth);
int sb__parts_for(int64_t nbytes); /* of a copy or a fill */

/* Calls part for every i below count, on several threads; returns when all are done. */
void sb__parallel(int count, void (*part)(void *context, int i), void *context);

#endif
#endif
