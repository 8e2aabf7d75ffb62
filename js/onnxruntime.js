'use strict'
// samebytes/onnxruntime: has onnxruntime's C library run the models of a program that uses onnxruntime-node, off the event loop. It exports
// nothing: import it before onnxruntime-node, or start the program by `node --import samebytes/onnxruntime`.

require('./model/ort-backend').register()
