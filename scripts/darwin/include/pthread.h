#pragma once
#include <_types.h>

typedef struct {
  long sig;
  char opaque[56];
} pthread_mutex_t, pthread_attr_t;
typedef struct {
  long sig;
  char opaque[40];
} pthread_cond_t;
typedef struct _opaque_pthread_t *pthread_t;

#define PTHREAD_MUTEX_INITIALIZER \
 { 0x32AAABA7, {0} }
#define PTHREAD_COND_INITIALIZER \
 { 0x3CB0B1BB, {0} }
#define PTHREAD_CREATE_DETACHED 2

int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_broadcast(pthread_cond_t *condition);
int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t nbytes);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument);
int pthread_join(pthread_t thread, void **result);
pthread_t pthread_self(void);
int pthread_equal(pthread_t a, pthread_t b);
int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
