/* Bytes that native code has for a while: V8's, the caller's, or a native storage's. A loan is a storage that
 * native code holds by references; when the last one is dropped, on any thread, its number goes to the office
 * of its environment, and JavaScript lets go of what it held under that number.
 *
 * An office outlives its environment: a loan that comes back then finds nobody, and is just freed. */
#include "node/environment.h"

enum { MOST_AT_ONCE = 512 }; /* numbers that fit the frame's ARGS */

typedef struct loan {
  struct sb__office *office; /* one reference */
  struct loan *next;         /* that has come back */
  sb_storage *base;          /* one reference; NULL: the bytes are JavaScript's */
  sb_storage *kept; /* one reference to what is under JavaScript's buffer, if that is native */
  uint32_t number;
} loan;

typedef struct sb__office {
  atomic_int references;             /* by the environment and each loan */
  sb__lock lock;                     /* over what follows */
  napi_threadsafe_function function; /* NULL: the environment has ended, or nobody listens */
  loan *first;                       /* come back; their numbers are not heard of yet */
  bool is_called;                    /* function will run */
} office;

static void unref_office(office *o) {
  if (atomic_fetch_sub(&o->references, 1) == 1) sb__free(o);
}

static void free_loans(office *o, loan *first) {
  while (first) {
    loan *next = first->next;
    sb__free(first);
    unref_office(o);
    first = next;
  }
}

/* A loan's storage has no holder any more: any thread. */
static void give_back(void *data, void *context) {
  loan *l = context;
  office *o = l->office;
  (void)data;
  sb_storage_unref(&l->base);
  sb_storage_unref(&l->kept);
  sb__lock_take(&o->lock);
  const bool is_heard = o->function != NULL;
  if (is_heard) {
    l->next = o->first;
    o->first = l;
    if (!o->is_called) {
      o->is_called =
          napi_call_threadsafe_function(o->function, NULL, napi_tsfn_nonblocking) == napi_ok;
    }
  }
  sb__lock_drop(&o->lock);
  if (is_heard) return;
  l->next = NULL;
  free_loans(o, l);
}

sb_status sb__lend(sb__environment *e, uint32_t number, sb_tensor *out) {
  sb_storage *storage = NULL;
  sb_status status = sb__read_operand(&e->binding);
  if (status) return status;
  const sb_tensor *t = &e->binding.operands[0];
  loan *l = sb__alloc(sizeof *l);
  if (!l) return sb__fail(SB_ERR_MEMORY, "no memory for a loan");
  *l = (loan){.office = e->loans, .number = number};
  sb_storage *base = t->storage->kind == SB__STORAGE_BORROWED ? NULL : t->storage;
  status = sb__storage_lend(t->storage->data, t->storage->nbytes, base, give_back, l, &storage);
  if (status) {
    sb__free(l);
    return status;
  }
  atomic_fetch_add(&e->loans->references, 1);
  l->base = sb_storage_ref(base);
  if (!base) l->kept = sb_storage_ref(sb__exposed_at(e, t->storage->data, t->storage->nbytes));
  sb_tensor_copy_layout(t, out);
  out->storage = storage;
  return SB_OK;
}

static const loan *loan_of(const sb_storage *storage) {
  return storage && storage->kind == SB__STORAGE_LENT ? storage->context : NULL;
}

sb_storage *sb__lent_base(const sb_storage *storage) {
  const loan *l = loan_of(storage);
  return l ? l->base : NULL;
}

int64_t sb__lent_number(const sb__environment *e, const sb_storage *storage) {
  const loan *l = loan_of(storage);
  return l && l->office == e->loans ? (int64_t)l->number : -1;
}

/* Moves numbers that have come back into ARGS, the count first. */
static uint32_t collect(sb__environment *e) {
  office *o = e->loans;
  double *args = e->binding.frame + SB__FRAME_ARGS;
  uint32_t n = 0;
  sb__lock_take(&o->lock);
  loan *first = o->first, *rest = first;
  loan **last = &first;
  for (; rest && n < MOST_AT_ONCE; rest = rest->next) {
    args[++n] = rest->number;
    last = &rest->next;
  }
  *last = NULL;
  o->first = rest;
  sb__lock_drop(&o->lock);
  args[0] = n;
  free_loans(o, first);
  return n;
}

/* returned() → how many loans came back; their numbers follow the count in ARGS. More may be left at 512. */
napi_value sb__node_returned(napi_env env, napi_callback_info info) {
  return sb__number(env, collect(sb__enter(env, info, 0, NULL)));
}

/* On the environment's thread, on a later turn; env is NULL when it is ending. */
static void tell(napi_env env, napi_value listener, void *context, void *data) {
  sb__environment *e = context;
  (void)data;
  if (!env) return;
  napi_value undefined = NULL;
  sb__lock_take(&e->loans->lock);
  e->loans->is_called = false;
  sb__lock_drop(&e->loans->lock);
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, listener, 0, NULL, NULL);
}

/* onReturned(listener): it is called on a turn of the event loop after loans have come back. */
napi_value sb__node_on_returned(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, name = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  napi_threadsafe_function function = NULL;
  napi_create_string_utf8(env, "samebytes loans", NAPI_AUTO_LENGTH, &name);
  if (napi_create_threadsafe_function(env, argument, NULL, name, 0, 1, NULL, NULL, e, tell,
                                      &function) != napi_ok) {
    return NULL; /* they are noticed at the next loan */
  }
  napi_unref_threadsafe_function(env, function);
  sb__lock_take(&e->loans->lock);
  e->loans->function = function;
  sb__lock_drop(&e->loans->lock);
  return NULL;
}

bool sb__loans_begin(sb__environment *e) {
  e->loans = sb__alloc(sizeof *e->loans);
  if (!e->loans) return false;
  *e->loans = (office){.function = NULL};
  atomic_init(&e->loans->references, 1);
  return true;
}

void sb__loans_end(sb__environment *e) {
  office *o = e->loans;
  sb__lock_take(&o->lock);
  o->function = NULL;
  loan *first = o->first;
  o->first = NULL;
  sb__lock_drop(&o->lock);
  free_loans(o, first);
}

void sb__loans_free(sb__environment *e) { unref_office(e->loans); }
