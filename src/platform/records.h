/* Who made a named segment, as text: `pid:start:namespace:persists:name`. It lies beside the segment under the name `.samebytes-INODE`, is
 * made before the segment gets its name, and belongs to that inode, whatever file has the name later. Nothing is added to the segment
 * itself: a raw one must have the length that other programs expect. */
#ifndef SB_PLATFORM_RECORDS_H
#define SB_PLATFORM_RECORDS_H

#include "platform/platform.h"

enum { SB__OWNER_ROOM = 512, SB__DRAFT_ROOM = 64 };

/* Writes the text. */
void sb__owner_write(const sb__process *owner, bool persists, const char *name,
                     char out[SB__OWNER_ROOM]);

/* Reads one, into owner, persists and name. False: it is none. */
bool sb__owner_read(const char *text, sb__segment_record *out);

/* The number in the name of a record; 0: it is no record's name. */
uint64_t sb__owner_inode(const char *file_name);

/* Names of files of ours: of a record, and of a file, or a record, that gets its own name at once. */
void sb__owner_name(uint64_t inode, char out[SB__DRAFT_ROOM]);
void sb__draft_name(uint64_t inode, char out[SB__DRAFT_ROOM]);
void sb__owner_draft_name(uint64_t inode, char out[SB__DRAFT_ROOM]);

#endif
