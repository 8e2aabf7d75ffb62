/* Stretches the levels of a grey picture to the whole range of a byte, in place, and returns how many pixels had
 * each level before: a tensor from JavaScript, worked on where it is, and a new one that JavaScript owns. */
#include <samebytes_napi.h>

/* Finds the darkest and the brightest level of a picture, and counts all. */
static void measure(const sb_tensor *picture, const uint8_t *pixels, int32_t *counts, int *low,
                    int *high) {
  *low = 255;
  *high = 0;
  for (int64_t y = 0; y < picture->shape[0]; y++) {
    for (int64_t x = 0; x < picture->shape[1]; x++) {
      const int level = pixels[y * picture->strides[0] + x * picture->strides[1]];
      counts[level]++;
      if (level < *low) *low = level;
      if (level > *high) *high = level;
    }
  }
}

static void spread(const sb_tensor *picture, uint8_t *pixels, int low, int high) {
  if (high <= low) return;
  for (int64_t y = 0; y < picture->shape[0]; y++) {
    for (int64_t x = 0; x < picture->shape[1]; x++) {
      uint8_t *level = &pixels[y * picture->strides[0] + x * picture->strides[1]];
      *level = (uint8_t)((*level - low) * 255 / (high - low));
    }
  }
}

/* stretch(picture) → int32 [256]; picture is uint8 [height, width] with any strides */
static napi_value stretch(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = NULL, result = NULL;
  sb_napi samebytes = {0};
  sb_tensor picture, levels;
  const int64_t shape[] = {256};
  const sb_scalar zero = {.kind = SB_SCALAR_INT};
  int low = 0, high = 0;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);

  sb_status status = sb_tensor_from_napi(&samebytes, env, argument, 0, &picture);
  if (status) return sb_napi_throw(&samebytes, env, status);
  bool overlaps = false; /* a pixel that is there twice would be stretched twice */
  status = samebytes.call->overlaps_itself(&picture, &overlaps);
  if (!status && (picture.dtype != SB_UINT8 || picture.ndim != 2 || overlaps)) {
    samebytes.call->tensor_release(&picture);
    napi_throw_type_error(env, "ERR_PICTURE",
                          "a picture is uint8 [height, width], each pixel a byte of its own");
    return NULL;
  }

  if (!status) status = samebytes.call->tensor_empty(SB_INT32, 1, shape, &levels);
  if (!status) {
    status = samebytes.call->fill(&levels, &zero);
    if (!status) {
      uint8_t *pixels = samebytes.call->tensor_data(&picture);
      measure(&picture, pixels, samebytes.call->tensor_data(&levels), &low, &high);
      spread(&picture, pixels, low, high);
      status = sb_tensor_to_napi(&samebytes, &levels, &result); /* JavaScript holds it now, too */
    }
    samebytes.call->tensor_release(&levels);
  }
  samebytes.call->tensor_release(&picture);
  return status ? sb_napi_throw(&samebytes, env, status) : result;
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  napi_value function = NULL;
  napi_create_function(env, "stretch", NAPI_AUTO_LENGTH, stretch, NULL, &function);
  napi_set_named_property(env, exports, "stretch", function);
  return exports;
}
