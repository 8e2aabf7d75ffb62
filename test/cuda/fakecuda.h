/* What tests in one process with the fake driver can ask of it, by dlsym on the library. */
#ifndef FAKECUDA_H
#define FAKECUDA_H

#include <stdint.h>

/* As FAKECUDA_FAIL; "" or NULL: nothing fails any more. Counting begins anew. */
void fakecuda_fail(const char *text);

/* While paused is not 0, streams take up no further work. */
void fakecuda_pause(int paused);

/* How often a function was called since the start; "*": all of them. */
int64_t fakecuda_calls(const char *name);

/* Bytes of all devices that are allocated; those of page-locked memory, also of registered memory. */
int64_t fakecuda_device_bytes(void);
int64_t fakecuda_host_bytes(void);

/* Streams that were made and not destroyed, default ones included; events. */
int64_t fakecuda_streams(void);
int64_t fakecuda_events(void);

#endif
