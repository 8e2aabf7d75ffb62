/* The elements that sorted lines would have at some ranks: parts of a line are ordered until the ranks are in place. Keys are integers in
 * the order of the values (reduce.h). Expected time is linear; a line whose parts turn out uneven too often is sorted by a heap. */
#include <string.h>

#include "math/lines.h"

static void sift_down(int64_t *x, int64_t at, int64_t n) {
  const int64_t key = x[at];
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && x[child + 1] > x[child]) child++;
    if (x[child] <= key) break;
    x[at] = x[child];
  }
  x[at] = key;
}

static void sort_by_heap(int64_t *x, int64_t n) {
  for (int64_t i = n / 2; i-- > 0;) sift_down(x, i, n);
  for (int64_t end = n; end-- > 1;) {
    const int64_t most = x[0];
    x[0] = x[end];
    x[end] = most;
    sift_down(x, 0, end);
  }
}

static int64_t middle(int64_t a, int64_t b, int64_t c) {
  const int64_t least = a < b ? a : b, most = a < b ? b : a;
  return c < least ? least : c > most ? most : c;
}

/* Puts keys below a limit first. Returns how many. No branch depends on a key. */
static __attribute__((noinline)) int64_t partition_keys(int64_t *x, int64_t n, int64_t limit) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t key = x[i];
    x[i] = x[count];
    x[count] = key;
    count += key < limit;
  }
  return count;
}

/* Puts keys first to end of x in the order that the ranks need. None is INT64_MAX. */
static void arrange(int64_t *x, int64_t first, int64_t end, const int64_t *ranks, int64_t count,
                    int left) {
  while (count && end - first > 1) {
    int64_t *const y = x + first;
    const int64_t n = end - first;
    if (!left--) {
      sort_by_heap(y, n);
      return;
    }
    const int64_t pivot = middle(y[0], y[n / 2], y[n - 1]);
    const int64_t below = first + partition_keys(y, n, pivot);
    const int64_t above = below + partition_keys(x + below, end - below, pivot + 1);
    int64_t low = 0, high = count;
    while (low < count && ranks[low] < below) low++;
    while (high > low && ranks[high - 1] >= above) high--;
    if (high < count && low) arrange(x, first, below, ranks, low, left);
    if (high < count) {
      first = above;
      ranks += high;
      count -= high;
    } else {
      end = below;
      count = low;
    }
  }
}

/* Returns whether there is a NaN. */
static bool make_keys(int64_t *x, int64_t n) {
  int64_t most = INT64_MIN;
  for (int64_t i = 0; i < n; i++) {
    double value;
    memcpy(&value, &x[i], sizeof value);
    x[i] = sb__key_of_double(value, 0);
    most = x[i] > most ? x[i] : most;
  }
  return most == INT64_MAX;
}

static void select(int64_t *x, const sb__line_call *c, const int64_t *sorted, double *made) {
  const bool is_nan = make_keys(x, c->n) || !c->n;
  int left = 0;
  for (int64_t rest = c->n; rest; rest /= 2) left += 2;
  if (!is_nan) arrange(x, 0, c->n, sorted, c->results, left);
  for (int64_t i = 0; i < c->results; i++)
    made[i] = is_nan ? __builtin_nan("") : sb__value_of_key(x[c->ranks[i]], 0, false);
}

void sb__select_lines(const sb__line_call *c) {
  int64_t sorted[SB__RANKS_MOST];
  memcpy(sorted, c->ranks, (size_t)c->results * sizeof *sorted);
  sort_by_heap(sorted, c->results);
  for (int64_t i = 0; i < c->count; i++)
    select((int64_t *)c->lines + i * c->n, c, sorted, (double *)c->made + i * c->results);
}
