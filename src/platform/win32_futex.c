/* Futex words: threads of this process wait in a list of ours, because Windows waits for one word at a time, and a wait ends by
 * its event as well. Other processes do not know of the list, so a wait for a word of a mapped file also looks at it again and again. */
#include "platform/win32.h"

#include <errno.h>

enum { LOOK_MS = 1, LONGEST_LOOK_MS = 16 }; /* ever less often */

typedef struct waiter {
  const void *word;
  sb__word key;
  uint32_t expected;
  const sb__event *event;
  CONDITION_VARIABLE woken;
  bool is_mapped; /* others may see the word */
  bool is_woken;
  struct waiter *next;
} waiter;

static SRWLOCK lock = SRWLOCK_INIT; /* of the list, and between a look at a word and the sleep */
static waiter *first;
static DWORD
    looking; /* those whose word others may see: the more there are, the less often each one looks */

/* No fault where the word's page is gone. */
static bool read_word(const void *word, uint32_t *value) {
  SIZE_T n = 0;
  return ReadProcessMemory(GetCurrentProcess(), word, value, sizeof *value, &n) &&
         n == sizeof *value;
}

static bool is_signalled(const sb__event *event) { return event && atomic_load(&event->signalled); }

/* Milliseconds from now to an end, rounded up; a part of them where they are too many. */
static DWORD until(int64_t end) {
  const int64_t left = end - sb__os_now();
  return left <= 0                       ? 0
         : left > INT64_C(1000000000000) ? 1000000
                                         : (DWORD)((left + 999999) / 1000000);
}

static bool is_mapped(const void *word) {
  MEMORY_BASIC_INFORMATION region;
  return VirtualQuery(word, &region, sizeof region) && region.Type == MEM_MAPPED;
}

/* Sleeps until it is woken, or the word of others has changed. Called with the lock. */
static sb__wait_result sleep_until_woken(waiter *self, int64_t end, int *error) {
  for (DWORD look = LOOK_MS;; look = look < LONGEST_LOOK_MS ? 2 * look : look) {
    uint32_t now = self->expected;
    if (self->is_woken) return SB__WOKEN;
    if (is_signalled(self->event)) return SB__SIGNALLED;
    if (self->is_mapped && !read_word(self->word, &now)) {
      *error = EFAULT;
      return SB__WAIT_FAILED;
    }
    if (now != self->expected) return SB__WOKEN;
    const DWORD left = end < 0 ? INFINITE : until(end);
    if (!left) return SB__TIMED_OUT;
    const DWORD time = self->is_mapped && left > look + looking ? look + looking : left;
    (void)SleepConditionVariableSRW(&self->woken, &lock, time, 0);
  }
}

sb__wait_result sb__os_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                  int64_t end, int *error) {
  waiter self = {.word = word,
                 .key = sb__win32_word(word),
                 .expected = expected,
                 .event = event,
                 .woken = CONDITION_VARIABLE_INIT,
                 .is_mapped = is_mapped(word)};
  uint32_t now = 0;
  sb__wait_result how = SB__NOT_EQUAL;
  AcquireSRWLockExclusive(&lock);
  if (is_signalled(event)) {
    how = SB__SIGNALLED;
  } else if (!read_word(word, &now)) {
    *error = EFAULT;
    how = SB__WAIT_FAILED;
  } else if (now == expected) {
    waiter **at = &first;
    while (*at) at = &(*at)->next; /* whoever came first is woken first */
    *at = &self;
    looking += self.is_mapped;
    how = sleep_until_woken(&self, end, error);
    looking -= self.is_mapped;
    for (at = &first; *at != &self;) at = &(*at)->next;
    *at = self.next;
  }
  ReleaseSRWLockExclusive(&lock);
  return how;
}

int sb__os_futex_equals(const void *word, uint32_t expected, int *error) {
  uint32_t now = 0;
  if (read_word(word, &now)) return now == expected;
  *error = EFAULT;
  return -1;
}

int sb__os_futex_wake(void *word, int count, int *error) {
  const sb__word key = sb__win32_word(word);
  int woken = 0;
  (void)error;
  AcquireSRWLockExclusive(&lock);
  for (waiter *each = first; each && woken < count; each = each->next) {
    if (each->is_woken || each->key.file != key.file || each->key.volume != key.volume ||
        each->key.at != key.at)
      continue;
    each->is_woken = true;
    WakeConditionVariable(&each->woken);
    woken++;
  }
  ReleaseSRWLockExclusive(&lock);
  return woken;
}

void sb__os_signal(sb__event *event) {
  AcquireSRWLockExclusive(&lock);
  atomic_store(&event->signalled, 1); /* with the lock: the event may go once its waiter sees it */
  for (waiter *each = first; each; each = each->next) {
    if (each->event == event) WakeConditionVariable(&each->woken);
  }
  ReleaseSRWLockExclusive(&lock);
}

void sb__os_poll_events(void) {}
