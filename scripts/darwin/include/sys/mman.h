#pragma once
#include <_types.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 0x1
#define MAP_PRIVATE 0x2
#define MAP_FIXED 0x10
#define MAP_NORESERVE 0x40
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
#define MAP_FAILED ((void *)-1)

void *mmap(void *address, size_t nbytes, int protection, int flags, int file, off_t offset);
int munmap(void *address, size_t nbytes);
