/* samebytes and LibTorch: an at::Tensor over a tensor's bytes, and a tensor over an at::Tensor's. No byte is
 * copied either way, and each side keeps the bytes alive for the other.
 *
 *   at::Tensor x = samebytes::to_torch(sb, env, value);   // from a JavaScript Tensor
 *   napi_value y = samebytes::to_napi(sb, x.transpose(0, 1));
 *
 * C++14 and later, any LibTorch from 1.10 on; headers only. Failures throw samebytes::error, LibTorch's own
 * c10::Error; samebytes::guard turns both into JavaScript errors.
 *
 * An at::Tensor over V8's bytes may be used on any thread, but not after the environment (worker, process) that
 * they come from has ended; see samebytes_napi.h. */
#ifndef SAMEBYTES_TORCH_H
#define SAMEBYTES_TORCH_H

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>

#include <array>
#include <stdexcept>
#include <string>

#include "samebytes_napi.h"

namespace samebytes {

/* A status and its message. */
class error : public std::runtime_error {
public:
  error(sb_status status, const std::string &words) : std::runtime_error(words), status(status) {}
  const sb_status status;
};

namespace detail {

inline void check(const sb_napi &sb, sb_status status) {
  if (status) throw error(status, sb.call ? sb.call->error_message() : sb.message);
}

/* The context of at::Tensors' storages. */
struct holding {
  const sb_table *call;
  sb_storage *storage; /* one reference */
  bool read_only;
};

inline void drop(void *context) {
  holding *h = static_cast<holding *>(context);
  h->call->storage_unref(&h->storage);
  delete h;
}

inline void drop_torch(void *, void *context) { delete static_cast<c10::Storage *>(context); }

struct dtypes {
  std::array<at::ScalarType, SB_DTYPE_COUNT> torch; /* Undefined: this LibTorch has no such dtype */
  std::array<int, static_cast<size_t>(at::ScalarType::NumOptions)>
      ours; /* -1: samebytes has no such dtype */

  static_assert(SB_DTYPE_COUNT == 17, "a name for each dtype");

  /* By name, because LibTorch's dtypes depend on its version. */
  dtypes() {
    static const char *const names[SB_DTYPE_COUNT] = {
        "Bool",   "Byte",         "Char",          "Short",         "UInt16",     "Int",
        "UInt32", "Long",         "UInt64",        "Half",          "BFloat16",   "Float",
        "Double", "ComplexFloat", "ComplexDouble", "Float8_e4m3fn", "Float8_e5m2"};
    torch.fill(at::ScalarType::Undefined);
    ours.fill(-1);
    for (size_t i = 0; i < ours.size(); i++) {
      const auto type = static_cast<at::ScalarType>(i);
      const std::string name = c10::toString(type);
      for (int d = 0; d < SB_DTYPE_COUNT; d++) {
        if (name != names[d]) continue;
        torch[static_cast<size_t>(d)] = type;
        ours[i] = d;
      }
    }
  }

  static const dtypes &table() {
    static const dtypes t;
    return t;
  }
};

} // namespace detail

/* LibTorch's name for a dtype.
 *
 * Throws SB_ERR_DTYPE this LibTorch has none */
inline at::ScalarType scalar_type(const sb_table *call, sb_dtype dtype) {
  const bool known = dtype >= 0 && dtype < SB_DTYPE_COUNT;
  const at::ScalarType type =
      known ? detail::dtypes::table().torch[static_cast<size_t>(dtype)] : at::ScalarType::Undefined;
  if (type == at::ScalarType::Undefined) {
    throw error(SB_ERR_DTYPE, std::string("this LibTorch has no ") + call->dtype_name(dtype));
  }
  return type;
}

/* Our name for LibTorch's dtype.
 *
 * Throws SB_ERR_DTYPE samebytes has none (quantised ones, say) */
inline sb_dtype dtype_of(at::ScalarType type) {
  const size_t i = static_cast<size_t>(type);
  const detail::dtypes &table = detail::dtypes::table();
  if (i >= table.ours.size() || table.ours[i] < 0) {
    throw error(SB_ERR_DTYPE, std::string("samebytes has no dtype ") + c10::toString(type));
  }
  return static_cast<sb_dtype>(table.ours[i]);
}

/* An at::Tensor over t's bytes, with its strides and offset: any layout but one that walks backwards.
 *
 *   t          borrowed: the at::Tensor, and each view of it, holds the storage by a reference of its own
 *   read_only  true: allows read-only tensors; you promise not to write. LibTorch has no such flag, but from_torch
 *              restores it
 *
 * Throws SB_ERR_DTYPE · SB_ERR_UNSUPPORTED a negative stride · SB_ERR_READ_ONLY · SB_ERR_ARGUMENT t has no bytes
 * Source LibTorch `from_blob` */
inline at::Tensor to_torch(const sb_table *call, const sb_tensor &t, bool read_only = false) {
  const at::ScalarType type = scalar_type(call, t.dtype);
  if ((t.flags & SB_READ_ONLY) && !read_only) {
    throw error(SB_ERR_READ_ONLY, "the tensor is read-only, and LibTorch would write to it");
  }
  for (int32_t d = 0; d < t.ndim; d++) {
    if (t.strides[d] < 0) {
      throw error(SB_ERR_UNSUPPORTED,
                  "stride " + std::to_string(t.strides[d]) + " of axis " + std::to_string(d) +
                      " is negative, which LibTorch does not have; contiguous() copies");
    }
  }
  if (!t.storage) throw error(SB_ERR_ARGUMENT, "the tensor has no bytes yet");
  auto *held = new detail::holding{call, call->storage_ref(t.storage), read_only};
  at::DataPtr data(call->storage_data(t.storage), held, &detail::drop, at::Device(at::kCPU));
  c10::Storage storage(c10::Storage::use_byte_size_t(), call->storage_nbytes(t.storage),
                       std::move(data), nullptr, false);
  at::Tensor x = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(type));
  c10::TensorImpl *made = x.unsafeGetTensorImpl();
  const size_t ndim = static_cast<size_t>(t.ndim);
  made->set_storage_offset(t.offset);
  made->set_sizes_and_strides(at::IntArrayRef(t.shape, ndim), at::IntArrayRef(t.strides, ndim));
  return x;
}

/* A tensor over an at::Tensor's bytes, with its strides and offset. For an at::Tensor that to_torch made, or a view of
 * one, it has the original storage.
 *
 *   x    borrowed: out's storage holds x's
 *   out  holds its storage; call->tensor_release drops it, on any thread
 *
 * Throws SB_ERR_ARGUMENT x is undefined · SB_ERR_DEVICE it is not on the CPU · SB_ERR_DTYPE ·
 *        SB_ERR_UNSUPPORTED it is sparse or of another layout without strides, quantised, its conjugate or negative
 *        bit is set, it requires grad, or has no storage · SB_ERR_SHAPE more than 64 axes · SB_ERR_MEMORY */
inline void from_torch(const sb_table *call, const at::Tensor &x, sb_tensor *out) {
  const auto refuse = [](sb_status status, const char *what) { throw error(status, what); };
  if (!call) refuse(SB_ERR_ARGUMENT, "samebytes is not open: sb_napi_open comes before this");
  if (!x.defined()) refuse(SB_ERR_ARGUMENT, "the at::Tensor is undefined");
  if (x.layout() != at::kStrided)
    refuse(SB_ERR_UNSUPPORTED, "the at::Tensor has no strides (sparse, say); to_dense() copies");
  if (!x.device().is_cpu()) refuse(SB_ERR_DEVICE, "the at::Tensor is not on the CPU; cpu() copies");
  if (x.is_quantized())
    refuse(SB_ERR_UNSUPPORTED, "the at::Tensor is quantised; int_repr() or dequantize() copy");
  if (x.is_conj())
    refuse(SB_ERR_UNSUPPORTED, "the at::Tensor is conjugated by a bit; resolve_conj() copies");
  if (x.is_neg())
    refuse(SB_ERR_UNSUPPORTED, "the at::Tensor is negated by a bit; resolve_neg() copies");
  if (x.requires_grad())
    refuse(SB_ERR_UNSUPPORTED, "the at::Tensor requires grad; detach() is without");
  if (!x.has_storage()) refuse(SB_ERR_UNSUPPORTED, "the at::Tensor has no storage of its own");
  if (x.dim() > SB_MAX_DIMS) refuse(SB_ERR_SHAPE, "the at::Tensor has more than 64 axes");
  const sb_dtype dtype = dtype_of(x.scalar_type());
  const c10::Storage &from = x.storage();
  sb_storage *storage = nullptr;
  sb_status status = SB_OK;
  const detail::holding *held =
      from.data_ptr().get_deleter() == &detail::drop
          ? static_cast<const detail::holding *>(from.data_ptr().get_context())
          : nullptr;
  if (held && held->call == call) {
    storage = call->storage_ref(held->storage);
  } else {
    auto *kept = new c10::Storage(from);
    status = call->storage_wrap(from.data_ptr().get(), from.data_ptr().get() ? from.nbytes() : 0,
                                &detail::drop_torch, kept, &storage);
    if (status) delete kept;
  }
  if (!status) {
    status = call->tensor_init(storage, dtype, static_cast<int32_t>(x.dim()), x.sizes().data(),
                               x.strides().data(), x.storage_offset(), out);
  }
  if (!status) {
    if (held && held->call == call && held->read_only) out->flags |= SB_READ_ONLY;
    return;
  }
  call->storage_unref(&storage);
  throw error(status, call->error_message());
}

/* An at::Tensor over the bytes of a JavaScript Tensor.
 *
 *   sb         opened from value if not open yet
 *   read_only  as above
 *
 * Throws as sb_tensor_from_napi and to_torch */
inline at::Tensor to_torch(sb_napi &sb, napi_env env, napi_value value, bool read_only = false) {
  sb_tensor t;
  detail::check(sb, sb_tensor_from_napi(&sb, env, value, read_only ? SB_READ_ONLY : 0, &t));
  struct release {
    const sb_table *call;
    sb_tensor *t;
    ~release() { call->tensor_release(t); }
  } done{sb.call, &t};
  return to_torch(sb.call, t, read_only);
}

/* A JavaScript Tensor over an at::Tensor's bytes.
 *
 *   sb  open
 *
 * Throws as from_torch and sb_tensor_to_napi */
inline napi_value to_napi(const sb_napi &sb, const at::Tensor &x) {
  napi_value value = nullptr;
  sb_tensor t;
  from_torch(sb.call, x, &t);
  const sb_status status = sb_tensor_to_napi(&sb, &t, &value);
  sb.call->tensor_release(&t);
  detail::check(sb, status);
  return value;
}

/* Runs work, and turns its C++ exceptions, which must not leave a callback, into JavaScript ones: samebytes' own errors,
 * and LibTorch's with the code ERR_TORCH. */
template <typename Work> napi_value guard(const sb_napi &sb, napi_env env, Work work) {
  try {
    return work();
  } catch (const error &e) {
    return sb_napi_throw_words(&sb, env, e.status, e.what());
  } catch (const c10::Error &e) {
    napi_throw_error(env, "ERR_TORCH", e.what_without_backtrace());
  } catch (const std::exception &e) {
    napi_throw_error(env, "ERR_TORCH", e.what());
  }
  return nullptr;
}

} // namespace samebytes

#endif
