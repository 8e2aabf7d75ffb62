#pragma once
#include <_types.h>

#define CTL_KERN 1
#define KERN_PROC 14
#define KERN_PROC_PID 1

/* What samebytes reads of it comes first. */
struct kinfo_proc {
  struct {
    struct timeval p_starttime;
    void *p_vmspace, *p_sigacts;
    int p_flag;
    char p_stat;
  } kp_proc;
  char rest[648 - 40];
};
_Static_assert(sizeof(struct kinfo_proc) == 648, "as macOS has it");

int sysctl(int *name, unsigned int count, void *old, size_t *old_nbytes, void *new_value,
           size_t new_nbytes);
