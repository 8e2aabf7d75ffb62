/* Files on macOS: reserving space. */
#include "platform/posix.h"

#if SB_DARWIN
# include <errno.h>
# include <fcntl.h>
# include <unistd.h>

int sb__os_reserve(int file, int64_t nbytes) {
  const off_t end = lseek(file, 0, SEEK_END);
  if (end < 0) return errno;
  if (end >= nbytes) return 0;
  fstore_t more = {
      .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)nbytes - end};
  if (fcntl(file, F_PREALLOCATE, &more) && errno == ENOSPC)
    return ENOSPC; /* others: this file system does not reserve */
  return sb__posix_extend(file, nbytes);
}
#else
typedef int sb__no_darwin_files;
#endif
