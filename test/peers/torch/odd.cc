// What samebytes_torch.h is asked in tests beyond what the example shows.
#include <samebytes_torch.h>

#include <ATen/ops/_conj.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/zeros.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct instance {
  sb_napi samebytes = {};
  std::vector<at::Tensor> held;
};

template <size_t N>
instance &enter(napi_env env, napi_callback_info info, napi_value (&arguments)[N]) {
  size_t count = N;
  void *data = nullptr;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  napi_get_instance_data(env, &data);
  return *static_cast<instance *>(data);
}

std::string text_of(napi_env env, napi_value value) {
  char text[64] = "";
  size_t length = 0;
  napi_get_value_string_utf8(env, value, text, sizeof text, &length);
  return std::string(text, length);
}

napi_value as_number(napi_env env, double x) {
  napi_value value = nullptr;
  napi_create_double(env, x, &value);
  return value;
}

napi_value open_package(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  const sb_status status = sb_napi_open(env, arguments[0], &sb);
  return status ? sb_napi_throw(&sb, env, status) : nullptr;
}

at::Tensor made(const std::string &kind) {
  if (kind == "undefined") return at::Tensor();
  if (kind == "sparse") return at::ones({2, 3}).to_sparse();
  if (kind == "quantised") return at::quantize_per_tensor(at::ones({4}), 0.5, 0, at::kQInt8);
  if (kind == "conjugated") return at::_conj(at::ones({2}, at::kComplexFloat));
  if (kind == "negated") return at::_neg_view(at::ones({2}));
  if (kind == "requires grad") return at::ones({2}).requires_grad_();
  if (kind == "meta") return at::empty({2}, at::TensorOptions().device(at::kMeta));
  if (kind == "complex half") return at::empty({2}, at::kComplexHalf);
  if (kind == "many axes") return at::ones(std::vector<int64_t>(65, 1));
  if (kind == "scalar") return at::ones({}, at::kDouble).mul_(2.5);
  if (kind == "empty") return at::empty({0, 3});
  if (kind == "expanded") return at::ones({1, 3}).expand({4, 3});
  if (kind == "part") return at::zeros({4, 5}, at::kLong).slice(0, 1, 3).slice(1, 2, 5);
  if (kind == "conjugate resolved") return at::_conj(at::ones({2}, at::kComplexFloat)).resolve_conj();
  return at::ones({2, 3});
}

// make(kind) → a tensor of an at::Tensor of LibTorch's own
napi_value make(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] { return samebytes::to_napi(sb, made(text_of(env, arguments[0]))); });
}

// describe(t) → [LibTorch's dtype, address, storage offset, elements, ndim, ...sizes, ...strides]
napi_value describe(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {}, list = nullptr;
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] {
    const at::Tensor x = samebytes::to_torch(sb, env, arguments[0], true);
    napi_value name = nullptr;
    napi_create_string_utf8(env, c10::toString(x.scalar_type()), NAPI_AUTO_LENGTH, &name);
    napi_create_array(env, &list);
    napi_set_element(env, list, 0, name);
    std::vector<double> numbers = {static_cast<double>(reinterpret_cast<uintptr_t>(x.data_ptr())),
                                   static_cast<double>(x.storage_offset()), static_cast<double>(x.numel()),
                                   static_cast<double>(x.dim())};
    for (const int64_t n : x.sizes()) numbers.push_back(static_cast<double>(n));
    for (const int64_t n : x.strides()) numbers.push_back(static_cast<double>(n));
    for (size_t i = 0; i < numbers.size(); i++) {
      napi_set_element(env, list, static_cast<uint32_t>(i + 1), as_number(env, numbers[i]));
    }
    return list;
  });
}

// write(t): asks for an at::Tensor that may be written to
napi_value write(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] {
    samebytes::to_torch(sb, env, arguments[0]).fill_(1);
    return nullptr;
  });
}

// readOnly(t): in for reading only, and out again
napi_value read_only(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] { return samebytes::to_napi(sb, samebytes::to_torch(sb, env, arguments[0], true)); });
}

// hold(t), sum() of all that is held, release(), releaseElsewhere()
napi_value hold(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  instance &i = enter(env, info, arguments);
  return samebytes::guard(i.samebytes, env, [&] {
    i.held.push_back(samebytes::to_torch(i.samebytes, env, arguments[0], true));
    return nullptr;
  });
}

napi_value sum(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  instance &i = enter(env, info, arguments);
  return samebytes::guard(i.samebytes, env, [&] {
    double all = 0;
    for (const at::Tensor &x : i.held) all += x.sum().item<double>();
    return as_number(env, all);
  });
}

napi_value release(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  enter(env, info, arguments).held.clear();
  return nullptr;
}

napi_value release_elsewhere(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  instance &i = enter(env, info, arguments);
  std::thread([&i] { i.held.clear(); }).join();
  return nullptr;
}

// fails(): an error of LibTorch's own
napi_value fails(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] {
    at::ones({2}).view({3});
    return nullptr;
  });
}

void end(napi_env, void *data, void *) { delete static_cast<instance *>(data); }

} // namespace

NAPI_MODULE_INIT() {
  const struct {
    const char *name;
    napi_callback function;
  } functions[] = {{"open", open_package}, {"make", make},       {"describe", describe},
                   {"write", write},       {"hold", hold},       {"sum", sum},
                   {"release", release},   {"releaseElsewhere", release_elsewhere}, {"fails", fails},
                   {"readOnly", read_only}};
  napi_set_instance_data(env, new instance, end, nullptr);
  for (const auto &f : functions) {
    napi_value function = nullptr;
    napi_create_function(env, f.name, NAPI_AUTO_LENGTH, f.function, nullptr, &function);
    napi_set_named_property(env, exports, f.name, function);
  }
  return exports;
}
