// The same for import as for require.
import './onnxruntime.js'
