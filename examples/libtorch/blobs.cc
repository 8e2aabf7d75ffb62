// LibTorch on the bytes of JavaScript's tensors: blobs assigned to outputs by copies, then without any, and a layer of a
// model that writes into an output that JavaScript made beforehand.
#include <samebytes_torch.h>

#include <ATen/ops/addmm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/t.h>

#include <vector>

namespace {

struct instance { // of one environment
  sb_napi samebytes = {};
};

template <size_t N>
instance &enter(napi_env env, napi_callback_info info, napi_value (&arguments)[N]) {
  size_t count = N;
  void *data = nullptr;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  napi_get_instance_data(env, &data);
  return *static_cast<instance *>(data);
}

// open(samebytes): which copy of the package, once
napi_value open_package(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  const sb_status status = sb_napi_open(env, arguments[0], &sb);
  return status ? sb_napi_throw(&sb, env, status) : nullptr;
}

// assign(output, blob): LibTorch's copy_; either may be a view
napi_value assign(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] {
    at::Tensor output = samebytes::to_torch(sb, env, arguments[0]);
    output.copy_(samebytes::to_torch(sb, env, arguments[1], true));
    return nullptr;
  });
}

// blob(n): float32 [n], 0, 1, 2, …, in a std::vector that lives as long as somebody looks at it
napi_value blob(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  int64_t n = 0;
  napi_get_value_int64(env, arguments[0], &n);
  return samebytes::guard(sb, env, [&] {
    auto *values = new std::vector<float>(static_cast<size_t>(n));
    for (size_t i = 0; i < values->size(); i++) (*values)[i] = static_cast<float>(i);
    return samebytes::to_napi(sb, at::from_blob(values->data(), {n}, [values](void *) { delete values; }, at::kFloat));
  });
}

// transposed(matrix): a view by LibTorch
napi_value transposed(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] { return samebytes::to_napi(sb, samebytes::to_torch(sb, env, arguments[0]).t()); });
}

// same(t): an at::Tensor of it, and a tensor of that
napi_value same(napi_env env, napi_callback_info info) {
  napi_value arguments[1] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] { return samebytes::to_napi(sb, samebytes::to_torch(sb, env, arguments[0])); });
}

// layer(input, weight, bias, output): output = relu(input · weightᵀ + bias), in the output's own bytes
napi_value layer(napi_env env, napi_callback_info info) {
  napi_value arguments[4] = {};
  sb_napi &sb = enter(env, info, arguments).samebytes;
  return samebytes::guard(sb, env, [&] {
    const at::Tensor input = samebytes::to_torch(sb, env, arguments[0], true);
    const at::Tensor weight = samebytes::to_torch(sb, env, arguments[1], true);
    const at::Tensor bias = samebytes::to_torch(sb, env, arguments[2], true);
    at::Tensor output = samebytes::to_torch(sb, env, arguments[3]);
    // LibTorch would resize an output that does not fit, and JavaScript's tensor would not know.
    if (output.dim() != 2 || input.dim() != 2 || weight.dim() != 2 || output.size(0) != input.size(0) ||
        output.size(1) != weight.size(0)) {
      throw samebytes::error(SB_ERR_SHAPE, "output's shape is not [rows of input, rows of weight]");
    }
    at::addmm_out(output, bias, input, weight.t());
    at::relu_(output);
    return nullptr;
  });
}

void end(napi_env, void *data, void *) { delete static_cast<instance *>(data); }

} // namespace

NAPI_MODULE_INIT() {
  const struct {
    const char *name;
    napi_callback function;
  } functions[] = {{"open", open_package}, {"assign", assign},   {"blob", blob},
                   {"same", same},         {"transposed", transposed}, {"layer", layer}};
  napi_set_instance_data(env, new instance, end, nullptr);
  for (const auto &f : functions) {
    napi_value function = nullptr;
    napi_create_function(env, f.name, NAPI_AUTO_LENGTH, f.function, nullptr, &function);
    napi_set_named_property(env, exports, f.name, function);
  }
  return exports;
}
