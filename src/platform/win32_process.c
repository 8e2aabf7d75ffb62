/* The process and its system: environment, processors, clock, other processes. */
#include "platform/win32.h"

#include <stdlib.h>

/* As the process has it now: our C library's copy is of when it was loaded. Never freed: callers keep it, and ask once. */
const char *sb__os_environment(const char *name) {
  enum { LONGEST = 32768 };
  wchar_t *wide = sb__win32_wide(name), *value = malloc(LONGEST * sizeof *value);
  char *text = NULL;
  SetLastError(ERROR_SUCCESS); /* as it stays where there is no text in it */
  if (wide && value &&
      (GetEnvironmentVariableW(wide, value, LONGEST) || GetLastError() == ERROR_SUCCESS)) {
    const int room = WideCharToMultiByte(CP_UTF8, 0, value, -1, NULL, 0, NULL, NULL);
    text = room > 0 ? malloc((size_t)room) : NULL;
    if (text) (void)WideCharToMultiByte(CP_UTF8, 0, value, -1, text, room, NULL, NULL);
  }
  free(value);
  free(wide);
  return text;
}

void sb__os_set_default(const char *name, const char *value) {
  wchar_t *wide = sb__win32_wide(name), *text = sb__win32_wide(value);
  if (wide && text && !GetEnvironmentVariableW(wide, NULL, 0))
    (void)SetEnvironmentVariableW(wide, text);
  free(wide);
  free(text);
}

bool sb__os_at_exit(sb__exit_function *function) {
  (void)function;
  return false;
}

bool sb__os_first_at_exit(sb__exit_function *function) {
  (void)function;
  return false;
}

void sb__os_exit_now(int code) { (void)TerminateProcess(GetCurrentProcess(), (UINT)code); }

int sb__os_forks(void) { return 0; } /* nothing forks */

/* A time of Windows, as platform.h wants it, but since 1601. */
static uint32_t start_at(uint64_t time) { return (uint32_t)(time / 10000); }

/* When a process started; 0: it is not known. */
static uint32_t start_of(HANDLE process) {
  FILETIME made, ended, kernel, user;
  if (!GetProcessTimes(process, &made, &ended, &kernel, &user)) return 0;
  return start_at((uint64_t)made.dwHighDateTime << 32 | made.dwLowDateTime);
}

/* What the system says of each process, also of those that may not be opened. */
typedef struct listed {
  ULONG next; /* bytes to the next one; 0: this is the last */
  ULONG threads;
  uint64_t memory, faults, cycles;
  uint64_t start, user, kernel;
  USHORT name_bytes, name_room;
  PWSTR name;
  LONG priority;
  HANDLE id;
} listed;

typedef LONG(WINAPI *query_system)(int what, void *out, ULONG room, ULONG *needed);

/* NULL: it is not to be had. free() frees it. */
static listed *list_processes(void) {
  enum { PROCESSES = 5, TRIES = 8, MORE = 65536 };
  const LONG too_short = (LONG)0xc0000004;
  const query_system query = (query_system)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"),
                                                                  "NtQuerySystemInformation");
  ULONG room = MORE;
  for (int i = 0; i < TRIES && query; i++) {
    ULONG needed = 0;
    listed *all = malloc(room);
    const LONG status = all ? query(PROCESSES, all, room, &needed) : 0;
    if (all && !status) return all;
    free(all);
    if (status != too_short) return NULL;
    room = (needed > room ? needed : room) + MORE; /* more may start meanwhile */
  }
  return NULL;
}

/* sb__os_has_ended for a number that a process has which may not be opened. */
static bool is_another(DWORD id, uint32_t start) {
  listed *all = list_processes();
  const listed *each = all;
  if (!all) return false;
  while (each->next && (DWORD)(uintptr_t)each->id != id)
    each = (const listed *)(const void *)((const char *)each + each->next);
  const bool is_there = (DWORD)(uintptr_t)each->id == id;
  const bool is_same = is_there && start_at(each->start) == start;
  free(all);
  return !is_same;
}

/* Windows has no namespaces of numbers; 1 says that start is known. */
sb__process sb__os_process(void) {
  return (sb__process){GetCurrentProcessId(), start_of(GetCurrentProcess()), 1};
}

bool sb__os_has_ended(const sb__process *process) {
  if (process->space != 1 || !process->start || process->id < 1) return false;
  if (process->id > UINT32_MAX) return true; /* there are no such numbers */
  const HANDLE other =
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, (DWORD)process->id);
  if (!other) { /* there is none, or it is another user's, or has more rights */
    return GetLastError() == ERROR_INVALID_PARAMETER ||
           is_another((DWORD)process->id, process->start);
  }
  const uint32_t start = start_of(other);
  const bool ended =
      (start && start != process->start) || WaitForSingleObject(other, 0) == WAIT_OBJECT_0;
  CloseHandle(other);
  return ended;
}

uint64_t sb__os_unique(void) {
  static const char here = 0; /* its address is random */
  LARGE_INTEGER ticks;
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  QueryPerformanceCounter(&ticks);
  uint64_t x = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
  x ^= (uint64_t)ticks.QuadPart * UINT64_C(0x2545f4914f6cdd1d);
  x ^= (uint64_t)GetCurrentProcessId() << 32 ^ (uint64_t)(uintptr_t)&here;
  for (int i = 0; i < 3; i++) { /* mixes the bits */
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
  }
  return x;
}

sb__abilities sb__os_abilities(void) {
  return (sb__abilities){.segments = sb__win32_segments(),
                         .sealed_memory = true,
                         .process_start_times = true,
                         .futexes = true,
                         .names_ignore_case = true};
}

int sb__os_processors(void) {
  DWORD_PTR mine = 0, all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &mine, &all)) return 1;
  /* 0: the process' threads are in several groups of processors */
  const DWORD count =
      mine ? (DWORD)__builtin_popcountll(mine) : GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return count < 1 ? 1 : (int)count;
}

int64_t sb__os_now(void) {
  LARGE_INTEGER frequency, ticks; /* neither fails from Windows XP on */
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&ticks);
  const int64_t f = frequency.QuadPart;
  return ticks.QuadPart / f * 1000000000 + ticks.QuadPart % f * 1000000000 / f;
}

int64_t sb__os_thread_time(void) {
  FILETIME begun, ended, kernel, user; /* in 100 ns */
  if (!GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user)) return 0;
  const int64_t high = (int64_t)kernel.dwHighDateTime + user.dwHighDateTime;
  return (high * (INT64_C(1) << 32) + kernel.dwLowDateTime + user.dwLowDateTime) * 100;
}
