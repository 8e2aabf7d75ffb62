#pragma once
#include <_types.h>

#define SIGILL 4
#define SIGFPE 8
#define SIGBUS 10
#define SIGSEGV 11
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_SETMASK 3
#define SA_ONSTACK 0x1
#define SA_RESTART 0x2
#define SA_NODEFER 0x10
#define SA_SIGINFO 0x40

typedef struct {
  int si_signo, si_errno, si_code;
  pid_t si_pid;
  uid_t si_uid;
  int si_status;
  void *si_addr;
  uintptr_t rest[9];
} siginfo_t;
_Static_assert(sizeof(siginfo_t) == 104 && offsetof(siginfo_t, si_addr) == 24, "as macOS has it");

struct sigaction {
  union {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
  };
  sigset_t sa_mask;
  int sa_flags;
};
_Static_assert(sizeof(struct sigaction) == 16, "as macOS has it");

/* Macros on macOS as well: a Node.js has no such functions of the system. */
#define sigfillset(set) (*(set) = ~(sigset_t)0, 0)
#define sigdelset(set, signal) (*(set) &= ~((sigset_t)1 << ((signal)-1)), 0)

int sigaction(int signal, const struct sigaction *now, struct sigaction *before);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);
int raise(int signal);
int kill(pid_t process, int signal);
