/* The text that says who made a named segment, and the names of our files beside it. */
#include "platform/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK SB_SEGMENT_MARK
#define DIGITS "0123456789"

void sb__owner_write(const sb__process *owner, bool persists, const char *name,
                     char out[SB__OWNER_ROOM]) {
  char start[24] = "", space[24] = "";
  if (owner->start) snprintf(start, sizeof start, "%u", owner->start);
  if (owner->space) snprintf(space, sizeof space, "%llu", (unsigned long long)owner->space);
  snprintf(out, SB__OWNER_ROOM, "%lld:%s:%s:%d:%s", (long long)owner->id, start, space, persists,
           name);
}

/* Reads digits and a colon. */
static bool read_number(const char **text, uint64_t *out) {
  const char *end = *text + strspn(*text, DIGITS);
  *out = strtoull(*text, NULL, 10); /* 0 where there are none */
  *text = end + 1;
  return *end == ':';
}

bool sb__owner_read(const char *text, sb__segment_record *out) {
  uint64_t id = 0, start = 0, space = 0, persists = 0;
  const char *rest = text;
  if (!read_number(&rest, &id) || !read_number(&rest, &start) || !read_number(&rest, &space) ||
      !read_number(&rest, &persists) || id < 1 || id > INT64_MAX || persists > 1 || !*rest ||
      strchr(rest, '/') || strlen(rest) >= sizeof out->name)
    return false;
  out->owner = (sb__process){(int64_t)id, (uint32_t)start, space};
  out->persists = persists == 1;
  memcpy(out->name, rest, strlen(rest) + 1);
  return true;
}

uint64_t sb__owner_inode(const char *file_name) {
  const size_t mark = sizeof MARK - 1;
  if (strncmp(file_name, MARK, mark) != 0) return 0;
  const char *digits = file_name + mark;
  return digits[strspn(digits, DIGITS)] ? 0 : strtoull(digits, NULL, 10);
}

void sb__owner_name(uint64_t inode, char out[SB__DRAFT_ROOM]) {
  snprintf(out, SB__DRAFT_ROOM, MARK "%llu", (unsigned long long)inode);
}

void sb__draft_name(uint64_t inode, char out[SB__DRAFT_ROOM]) {
  snprintf(out, SB__DRAFT_ROOM, MARK "draft-%llu", (unsigned long long)inode);
}

void sb__owner_draft_name(uint64_t inode, char out[SB__DRAFT_ROOM]) {
  snprintf(out, SB__DRAFT_ROOM, MARK "draft-%llu-owner", (unsigned long long)inode);
}
