/* The classic recipe for shared memory: shm_open, ftruncate, mmap, an array of integers. Nothing in it knows samebytes.
 *
 *   ints make /NAME COUNT     makes it, with the squares 0, 1, 4, …
 *   ints double /NAME COUNT   opens it, prints the integers and where they are, doubles them */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

int main(int argc, char **argv) {
  const int count = argc == 4 ? atoi(argv[3]) : 0;
  if (count < 1) {
    fprintf(stderr, "usage: ints make|double /NAME COUNT\n");
    return 2;
  }
  const int is_new = strcmp(argv[1], "make") == 0;
  const size_t nbytes = (size_t)count * sizeof(int);
  const int file = shm_open(argv[2], is_new ? O_CREAT | O_EXCL | O_RDWR : O_RDWR, 0600);
  if (file < 0) return failed(argv[2]);
  if (is_new && ftruncate(file, (off_t)nbytes)) return failed("ftruncate");
  int *array = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (array == MAP_FAILED) return failed("mmap");
  close(file); /* the mapping stays */
  if (is_new) {
    for (int i = 0; i < count; i++) array[i] = i * i;
  } else {
    printf("C, process %d, address %p:", (int)getpid(), (void *)array);
    for (int i = 0; i < count; i++) printf(" %d", array[i]);
    printf("\n");
    for (int i = 0; i < count; i++) array[i] *= 2;
  }
  munmap(array, nbytes);
  return 0;
}
