'use strict'
// samebytes/native: the paths of the C headers and of the shared library, for builds of native code. Loads nothing.

const fs = require('node:fs')
const path = require('node:path')
const { root } = require('../runtime/host')
const { prebuilt } = require('../runtime/platform')

/** Folder of samebytes.h, samebytes_napi.h and samebytes_torch.h, for the compiler's include path; absolute. @type {string} */
const include = path.join(root, 'src')

/**
 * libsamebytes, the C functions of samebytes.h alone, for programs other than Node's addons to link or load; absolute.
 * null where the package has none for this platform.
 *
 * @type {string | null}
 */
const library =
  [
    path.join(root, 'build', 'Release', 'libsamebytes.so.1'),
    path.join(prebuilt(), 'libsamebytes.so.1'),
  ].find((file) => fs.existsSync(file)) ?? null

module.exports = { include, library }
