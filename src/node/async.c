/* Copies and arithmetic off the event loop, on libuv's pool: with native storages and SharedArrayBuffers alone,
 * which can neither move nor be detached. Either holds its storages by references; JavaScript keeps buffers
 * and owners reachable until it hears that it is over. An environment that ends waits for its work before
 * it lets anything go, so nothing goes away under it. */
#include <string.h>

#include "bind/extension.h"
#include "node/environment.h"

/* Between two looks at stop; enough for copies that go past the caches. */
#ifdef SB_TEST
# define PIECE_BYTES INT64_C(4096) /* so that tests need no large tensors */
#else
# define PIECE_BYTES (INT64_C(32) << 20)
#endif

typedef struct offload {
  sb__environment *owner; /* NULL: has ended */
  struct offload *next;
  uint32_t id;
  napi_async_work work;
  napi_ref done;
  sb__copy copy;            /* of the tensors below */
  const sb__export *export; /* arithmetic's, instead of a copy; NULL: it is a copy */
  sb__binding *call;        /* what it gets: its tensors are those below */
  sb__scratch scratch;      /* what it may take */
  sb_tensor operands[4];    /* each holds its storage, which is in flight */
  sb_storage borrowed[4];   /* of those over SharedArrayBuffers */
  int count;                /* operands */
  sb_tensor staged;         /* storage NULL: no copy of the source is needed first */
  atomic_bool stop;
  sb__lock running; /* while bytes are touched */
  /* What the pool's thread leaves: */
  sb_status status;
  bool finished;   /* every element was copied */
  int64_t refused; /* bytes, beyond the limit */
  char message[512];
} offload;

/* ---- On the pool ---- */

static sb_status copy_in_pieces(const sb__copy *copy, const atomic_bool *stop, bool *done) {
  const int64_t to = sb_dtype_itemsize(copy->dst->dtype),
                from = sb_dtype_itemsize(copy->src->dtype);
  return sb__copy_in_pieces(copy, PIECE_BYTES / (to > from ? to : from), stop, done);
}

static void copy_all(offload *c) {
  bool ready = true;
  if (c->staged.storage) {
    const sb__copy away = {.dst = &c->staged, .src = c->copy.src, .casting = SB_CASTING_SAFE};
    c->status = copy_in_pieces(&away, &c->stop, &ready);
    c->copy.src = &c->staged;
  }
  if (ready && !c->status) c->status = copy_in_pieces(&c->copy, &c->stop, &c->finished);
}

static void compute(offload *c) {
  sb__scratch_set(c->scratch);
  c->status = c->export->run(c->call);
  c->refused = sb__scratch_end();
  c->finished = !c->status;
}

static void work(offload *c) {
  if (atomic_load(&c->stop)) return; /* what was borrowed may be gone */
  if (c->export)
    compute(c);
  else
    copy_all(c);
  if (c->status) strncpy(c->message, sb_error_message(), sizeof c->message - 1);
}

static void execute(napi_env env, void *data) {
  offload *c = data;
  (void)env; /* not ours on this thread */
  sb__lock_take(&c->running);
  work(c);
  sb__lock_drop(&c->running);
}

/* ---- On the environment's thread ---- */

static void hold_operand(offload *c, const sb_tensor *t) {
  sb_tensor *mine = &c->operands[c->count];
  sb_storage *borrowed = &c->borrowed[c->count++];
  sb_tensor_copy_layout(t, mine);
  if (t->storage->kind == SB__STORAGE_BORROWED) {
    sb__storage_borrow(t->storage->data, t->storage->nbytes, borrowed);
    mine->storage = borrowed;
  }
  sb_tensor_retain(mine);
}

static void free_offload(napi_env env, offload *c) {
  for (int i = 0; i < c->count; i++) sb_tensor_release(&c->operands[i]);
  sb_tensor_release(&c->staged);
  if (c->done) napi_delete_reference(env, c->done);
  if (c->work) napi_delete_async_work(env, c->work);
  sb__free(c->call);
  sb__free(c);
}

static void unlink(offload *c) {
  struct offload **at = &c->owner->offloads;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
}

/* Its work is over, or was cancelled before it began. What it held is let go before anybody hears of it. */
static void complete(napi_env env, napi_status cancelled, void *data) {
  offload *c = data;
  sb__environment *e = c->owner;
  napi_value done = NULL, undefined = NULL;
  (void)cancelled; /* then nothing is finished */
  if (e) {
    unlink(c);
    for (int i = 0; !c->status && i < c->count; i++) {
      c->status = sb__check_intact(c->operands[i].storage);
      if (c->status) strncpy(c->message, sb_error_message(), sizeof c->message - 1);
    }
    e->binding.frame[SB__FRAME_RESULTS] = c->finished;
    e->binding.frame[SB__FRAME_RESULTS + 1] = c->call ? c->call->results[0] : 0;
    e->binding.frame[SB__FRAME_SCRATCH] = (double)c->refused;
    sb__report(&e->binding, c->status ? sb__fail(c->status, "%s", c->message) : SB_OK);
    napi_get_undefined(env, &undefined);
    napi_get_reference_value(env, c->done, &done);
  }
  free_offload(env, c);
  if (done) napi_call_function(env, undefined, done, 0, NULL, NULL); /* fails where it ends: fine */
}

static offload *new_offload(sb__environment *e) {
  offload *c = sb__alloc(sizeof *c);
  if (!c) {
    sb__fail(SB_ERR_MEMORY, "no memory for work on another thread");
    return NULL;
  }
  memset(c, 0, sizeof *c);
  atomic_init(&c->stop, false);
  c->owner = e;
  c->id = ++e->offloads_made;
  return c;
}

/* A copy of what row copy_check has just passed; NULL without memory. */
static offload *new_copy(sb__environment *e, bool scaled) {
  const sb__copy asked = sb__copy_of(&e->binding, scaled);
  offload *c = new_offload(e);
  if (!c) return NULL;
  hold_operand(c, asked.dst);
  hold_operand(c, asked.src);
  if (scaled) {
    hold_operand(c, asked.scale);
    hold_operand(c, asked.bias);
  }
  c->copy = (sb__copy){&c->operands[0], &c->operands[1], NULL, NULL, asked.axis, asked.casting};
  if (scaled) c->copy.scale = &c->operands[2], c->copy.bias = &c->operands[3];
  return c;
}

/* A call of arithmetic, whose operands were read by its signature; NULL without memory. */
static offload *new_call(sb__environment *e, const sb__export *export) {
  offload *c = new_offload(e);
  if (!c) return NULL;
  c->export = export;
  c->call = sb__alloc(sizeof *c->call);
  if (!c->call) {
    sb__fail(SB_ERR_MEMORY, "no memory for work on another thread");
    sb__free(c);
    return NULL;
  }
  *c->call = e->binding;
  c->call->frame = NULL;
  c->call->claims = NULL;
  c->call->claim_count = 0;
  for (const char *s = export->signature; *s == 'w' || *s == 't'; s++) {
    hold_operand(c, &e->binding.operands[c->count]);
    c->call->operands[c->count - 1] = c->operands[c->count - 1];
  }
  return c;
}

static sb_status queue_work(napi_env env, offload *c, napi_value done) {
  napi_value name = NULL;
  const bool started =
      napi_create_string_utf8(env, "samebytes", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_create_reference(env, done, 1, &c->done) == napi_ok &&
      napi_create_async_work(env, NULL, name, execute, complete, c, &c->work) == napi_ok &&
      napi_queue_async_work(env, c->work) == napi_ok;
  return started ? SB_OK : sb__fail(SB_ERR_MEMORY, "work for another thread could not be queued");
}

/* Queues it, and reports: it is the environment's then, or was freed. The results are a number to stop it by and the bytes that are
 * copied away first. */
static void begin_work(napi_env env, offload *c, sb_status status, napi_value done) {
  sb__environment *e = c->owner;
  sb__binding *b = &e->binding;
  if (!status) status = queue_work(env, c, done);
  if (status) {
    free_offload(env, c);
  } else {
    c->next = e->offloads;
    e->offloads = c;
    b->frame[SB__FRAME_RESULTS] = c->id;
    b->frame[SB__FRAME_RESULTS + 1] = c->staged.storage ? (double)sb_tensor_nbytes(&c->staged) : 0;
  }
  sb__report(b, status);
}

/* copy(scaled, done): begins what row copy_check (copy_scaled_check) would judge; the frame has its
 * operands. done is called on a later turn: the status is in the frame, the first result says whether all
 * was copied. */
napi_value sb__node_copy(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__binding *b = &e->binding;
  const double room = b->frame[SB__FRAME_SCRATCH];
  bool scaled = false;
  napi_get_value_bool(env, arguments[0], &scaled);
  sb__run(b, scaled ? SB__OPCODE_copy_scaled_check : SB__OPCODE_copy_check);
  if (b->frame[SB__FRAME_STATUS] != 0) return NULL;
  sb_status status = SB_OK;
  offload *c = new_copy(e, scaled);
  if (!c) {
    sb__report(b, SB_ERR_MEMORY);
    return NULL;
  }
  const sb_tensor *src = c->copy.src;
  if (b->frame[SB__FRAME_RESULTS] != 0) {
    sb__scratch_begin(room);
    status = sb_tensor_empty(src->dtype, src->ndim, src->shape, &c->staged);
    b->frame[SB__FRAME_SCRATCH] = (double)sb__scratch_end();
  }
  begin_work(env, c, status, arguments[1]);
  return NULL;
}

/* compute(opcode, done): begins a call of arithmetic; the frame has what it gets. done is called on a later turn: the status is in the
 * frame, the first result says whether it was done, the second one is the call's own first one. */
napi_value sb__node_compute(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__binding *b = &e->binding;
  uint32_t opcode = 0;
  napi_get_value_uint32(env, arguments[0], &opcode);
  const sb__export *export = sb__extension_at(opcode);
  sb_status status = export ? SB_OK : sb__fail(SB_ERR_ARGUMENT, "there is no function %u", opcode);
  const char *signature = export ? export->signature : "";
  if (!status) status = sb__run_begin(b, &signature);
  const sb__scratch scratch = sb__scratch_move();
  b->frame[SB__FRAME_SCRATCH] = 0;
  offload *c = status ? NULL : new_call(e, export);
  if (c) c->scratch = scratch;
  if (c)
    begin_work(env, c, SB_OK, arguments[1]);
  else
    sb__report(b, status ? status : SB_ERR_MEMORY);
  return NULL;
}

/* stop(id): no further piece is begun, of a copy; done is called as ever. */
napi_value sb__node_stop(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const double id = sb__number_of(env, argument);
  for (offload *c = e->offloads; c; c = c->next) {
    if (c->id != id) continue;
    atomic_store(&c->stop, true);
    napi_cancel_async_work(env, c->work); /* fails where it has begun: fine */
  }
  return NULL;
}

/* Node waits for its pool before the environment's buffers go, Deno does not. Work that has ended by then is freed by
 * complete() where the runtime still calls it. */
void sb__offloads_end(sb__environment *e) {
  for (offload *c = e->offloads; c; c = c->next) {
    atomic_store(&c->stop, true);
    c->owner = NULL;
  }
  for (offload *c = e->offloads; c; c = c->next) {
    sb__lock_take(&c->running);
    sb__lock_drop(&c->running);
  }
  e->offloads = NULL;
}
