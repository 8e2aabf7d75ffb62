// samebytes/onnxruntime in a page.

throw Object.assign(
  new Error(
    'samebytes/onnxruntime needs Node.js: pages have no C library of onnxruntime, and onnxruntime-web runs models there',
  ),
  { name: 'SamebytesError', code: 'ERR_UNSUPPORTED' },
)
