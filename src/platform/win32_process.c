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

int sb__os_forks(void) { return 0; } /* nothing forks */

/* When a process started, as platform.h wants it, but since 1601; 0: it is not known. */
static uint32_t start_of(HANDLE process) {
  FILETIME made, ended, kernel, user;
  if (!GetProcessTimes(process, &made, &ended, &kernel, &user)) return 0;
  return (uint32_t)(((uint64_t)made.dwHighDateTime << 32 | made.dwLowDateTime) / 10000);
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
  if (!other) return GetLastError() == ERROR_INVALID_PARAMETER; /* else it is another user's */
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
                         .futexes = true};
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
