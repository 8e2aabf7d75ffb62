/* Futex words. Windows waits for a word of its own process only, and wakes nobody when another process writes it. So a waiter has a
 * slot in a table, with the word's place, and an event by which it is woken, whose name follows from what the slot says; whoever wakes
 * looks for slots of the word. Words of mapped files have theirs in a file that all processes of the user map, others in a table of the
 * process. What a killed process leaves is found by its event's name, which is gone with it. */
#include "platform/win32.h"

#include <errno.h>
#include <stdio.h>

enum { SLOTS = 4096, ROOM = 64, TRIES = 100, LOOK_AGAIN = 1000 /* milliseconds */ };
#define WAITERS SB_SEGMENT_MARK "waiters-1" /* the table's file: a number for each layout */

/* Who has a slot: process × 2^32 + how often it waited before × 4 + one of these; 0: nobody. */
enum { TAKEN = 1, WAITING, WOKEN, HOW = 3 };

typedef struct slot {
  atomic_uint_fast64_t holder;
  sb__word word; /* valid while it is WAITING */
} slot;

typedef struct table {
  atomic_uint_fast64_t used; /* slots behind are free */
  slot slots[SLOTS];
} table;

/* A wait of this process that an event may end. */
typedef struct waiter {
  const sb__event *event;
  HANDLE wakes;
  struct waiter *next;
} waiter;

static sb__lock lock; /* of what follows */
static waiter *waiters;
static table *shared;

/* NULL: it cannot be mapped. It stays until the process ends. */
static table *shared_table(void) {
  HANDLE file = NULL, section = NULL;
  sb__lock_take(&lock);
  if (!shared && !sb__win32_segment_file(WAITERS, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS,
                                         FILE_ATTRIBUTE_TEMPORARY, &file)) {
    section = CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, sizeof(table), NULL);
    if (section) shared = MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, sizeof(table));
    if (section) CloseHandle(section);
    CloseHandle(file);
  }
  table *found = shared;
  sb__lock_drop(&lock);
  return found;
}

static table *table_of(const sb__word *word) {
  static table own;
  return word->file ? shared_table() : &own;
}

/* Services and sessions of the user have Global names in common; making events there takes no privilege. */
static void event_name(uint64_t holder, wchar_t name[ROOM]) {
  _snwprintf(name, ROOM, L"Global\\samebytes-%llx", (unsigned long long)(holder | HOW));
}

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
  return end < 0                         ? INFINITE
         : left <= 0                     ? 0
         : left > INT64_C(1000000000000) ? 1000000
                                         : (DWORD)((left + 999999) / 1000000);
}

/* ---- Slots ---- */

/* Opens the event of a slot's waiter. False: it has left, or its process has ended. event: NULL where it may not be opened. */
static bool open_event(uint_fast64_t holder, HANDLE *event) {
  wchar_t name[ROOM];
  event_name(holder, name);
  *event = OpenEventW(EVENT_MODIFY_STATE, FALSE, name);
  return *event || GetLastError() != ERROR_FILE_NOT_FOUND;
}

/* Frees those that ended processes left, in a table that has no free one. */
static void free_ended(table *t) {
  for (size_t i = 0; i < SLOTS; i++) {
    uint_fast64_t holder = atomic_load(&t->slots[i].holder);
    HANDLE event = NULL;
    if (holder && !open_event(holder, &event))
      (void)atomic_compare_exchange_strong(&t->slots[i].holder, &holder, 0);
    if (event) CloseHandle(event);
  }
}

static slot *try_to_take(table *t, uint64_t self) {
  for (size_t i = 0; i < SLOTS; i++) {
    uint_fast64_t nobody = 0, used = atomic_load(&t->used);
    if (!atomic_compare_exchange_strong(&t->slots[i].holder, &nobody, self | TAKEN)) continue;
    while (used <= i && !atomic_compare_exchange_weak(&t->used, &used, i + 1)) continue;
    return &t->slots[i];
  }
  return NULL;
}

/* NULL: all are in use. */
static slot *take_slot(table *t, uint64_t self, const sb__word *word) {
  slot *taken = try_to_take(t, self);
  if (!taken) {
    free_ended(t);
    taken = try_to_take(t, self);
  }
  if (!taken) return NULL;
  taken->word = *word;
  atomic_store(&taken->holder, self | WAITING);
  return taken;
}

/* Wakes the waiter that had a slot. False: its process has ended. Who leaves at that moment, because its time is up, has seen that it was
 * woken. */
static bool wake(slot *s, uint_fast64_t holder) {
  HANDLE event = NULL;
  if (!open_event(holder, &event)) return !atomic_compare_exchange_strong(&s->holder, &holder, 0);
  if (!event) return true; /* it looks again by itself */
  (void)SetEvent(event);
  CloseHandle(event);
  return true;
}

int sb__os_futex_wake(void *word, int count, int *error) {
  const sb__word place = sb__win32_word(word);
  table *t = table_of(&place);
  int woken = 0;
  if (!t) {
    *error = ENOSYS;
    return -1;
  }
  /* Between the caller's write and the look at slots, as a waiter's look at the word comes after its slot's store. */
  atomic_thread_fence(memory_order_seq_cst);
  const uint_fast64_t used = atomic_load(&t->used);
  for (size_t i = 0; i < used && i < SLOTS && woken < count; i++) {
    slot *s = &t->slots[i];
    uint_fast64_t holder = atomic_load(&s->holder);
    if ((holder & HOW) < WAITING || s->word.file != place.file || s->word.volume != place.volume ||
        s->word.at != place.at)
      continue;
    const uint_fast64_t now = holder | HOW; /* WOKEN */
    if (holder == now)
      (void)wake(s, now); /* whoever woke it may have been killed before the event was set */
    else if (atomic_compare_exchange_strong(&s->holder, &holder, now)) /* else another waiter's */
      woken += wake(s, now);
  }
  return woken;
}

/* ---- Waiting ---- */

static void add_waiter(waiter *self) {
  sb__lock_take(&lock);
  self->next = waiters;
  waiters = self;
  sb__lock_drop(&lock);
}

static void remove_waiter(waiter *self) {
  sb__lock_take(&lock);
  waiter **at = &waiters;
  while (*at != self) at = &(*at)->next;
  *at = self->next;
  sb__lock_drop(&lock);
}

void sb__os_signal(sb__event *event) {
  sb__lock_take(&lock);
  atomic_store(&event->signalled, 1); /* with the lock: the event may go once its waiter sees it */
  for (const waiter *each = waiters; each; each = each->next) {
    if (each->event == event) (void)SetEvent(each->wakes);
  }
  sb__lock_drop(&lock);
}

/* Looks at the slot once a second, as whoever woke it may have been killed before the event was set, or may not open the event. Where
 * somebody overwrote the slot, the wait ends too. */
static sb__wait_result wait_in(slot *s, uint64_t holder, const waiter *self, const void *word,
                               uint32_t expected, int64_t end, int *error) {
  bool is_set = true;
  for (bool slept = false;; slept = true) {
    uint32_t now = 0;
    if (atomic_load(&s->holder) != (holder | WAITING)) return SB__WOKEN;
    if (is_signalled(self->event)) return SB__SIGNALLED;
    if (is_set && !read_word(word, &now)) {
      *error = EFAULT;
      return SB__WAIT_FAILED;
    }
    if (is_set && now != expected) return slept ? SB__WOKEN : SB__NOT_EQUAL;
    const DWORD left = until(end);
    if (!left) return SB__TIMED_OUT;
    is_set =
        WaitForSingleObject(self->wakes, left < LOOK_AGAIN ? left : LOOK_AGAIN) != WAIT_TIMEOUT;
  }
}

/* A number and an event for a wait. It begins by chance: what an earlier process of this number left is nobody's. Who has the event of a
 * number already is a wait that 2^30 others came after, or a stranger. event: NULL where there is none. */
static uint64_t new_wait(HANDLE *event) {
  static atomic_uint_fast64_t waits;
  uint_fast64_t none = 0;
  uint64_t self = 0;
  wchar_t name[ROOM];
  (void)(atomic_load(&waits) || atomic_compare_exchange_strong(&waits, &none, sb__os_unique() | 1));
  *event = NULL;
  for (int i = 0; i < TRIES && !*event; i++) {
    self = (uint64_t)GetCurrentProcessId() << 32 | (atomic_fetch_add(&waits, 1) << 2 & UINT32_MAX);
    event_name(self, name);
    SetLastError(ERROR_SUCCESS);
    *event = CreateEventW(NULL, FALSE, FALSE, name);
    if (!*event || GetLastError() != ERROR_ALREADY_EXISTS) continue;
    CloseHandle(*event);
    *event = NULL;
  }
  return self;
}

/* Leaves a slot. True: it was woken. */
static bool leave_slot(slot *s, uint64_t self) {
  uint_fast64_t holder = atomic_load(&s->holder);
  while ((holder == (self | WAITING) || holder == (self | WOKEN)) &&
         !atomic_compare_exchange_weak(&s->holder, &holder, 0))
    continue;
  return holder == (self | WOKEN);
}

sb__wait_result sb__os_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                  int64_t end, int *error) {
  const sb__word place = sb__win32_word(word);
  table *t = table_of(&place);
  waiter own = {event, NULL, NULL};
  const uint64_t self = new_wait(&own.wakes);
  slot *s = t && own.wakes ? take_slot(t, self, &place) : NULL;
  sb__wait_result how = SB__WAIT_FAILED;
  *error = t ? ENOMEM : ENOSYS;
  if (s) {
    add_waiter(&own);
    how = wait_in(s, self, &own, word, expected, end, error);
    remove_waiter(&own);
    const bool was_woken = leave_slot(s, self);
    if (was_woken && how != SB__WAIT_FAILED) how = SB__WOKEN; /* whoever woke it has counted it */
  }
  if (own.wakes) CloseHandle(own.wakes);
  return how;
}

int sb__os_futex_equals(const void *word, uint32_t expected, int *error) {
  uint32_t now = 0;
  if (read_word(word, &now)) return now == expected;
  *error = EFAULT;
  return -1;
}

void sb__os_poll_events(void) {}
