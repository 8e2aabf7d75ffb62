#pragma once
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t nbytes);
void *memmove(void *to, const void *from, size_t nbytes);
void *memset(void *data, int value, size_t nbytes);
int memcmp(const void *a, const void *b, size_t nbytes);
void *memchr(const void *data, int value, size_t nbytes);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t most);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
char *strstr(const char *text, const char *part);
char *strncpy(char *to, const char *from, size_t most);
size_t strspn(const char *text, const char *among);
size_t strcspn(const char *text, const char *among);
char *strdup(const char *text);
char *strerror(int error);
