#pragma once
#include <_types.h>

#define SEEK_SET 0
#define SEEK_END 2
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58

int close(int file);
int ftruncate(int file, off_t nbytes);
off_t lseek(int file, off_t offset, int from);
ssize_t read(int file, void *bytes, size_t nbytes);
ssize_t write(int file, const void *bytes, size_t nbytes);
ssize_t pread(int file, void *bytes, size_t nbytes, off_t at);
ssize_t pwrite(int file, const void *bytes, size_t nbytes, off_t at);
int pipe(int files[2]);
int link(const char *from, const char *to);
int unlink(const char *path);
int symlink(const char *text, const char *path);
ssize_t readlink(const char *path, char *text, size_t capacity);
pid_t getpid(void);
uid_t geteuid(void);
long sysconf(int name);
void _exit(int code) __attribute__((noreturn));
