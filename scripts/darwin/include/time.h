#pragma once
#include <_types.h>

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 6
#define CLOCK_THREAD_CPUTIME_ID 16

int clock_gettime(clockid_t clock, struct timespec *now);
int nanosleep(const struct timespec *time, struct timespec *left);
