'use strict'
// samebytes/native: the paths of the C headers and of the shared library, for builds of native code. Loads nothing.

const fs = require('node:fs')
const { placeOf } = require('../runtime/host')
const { platformName } = require('../runtime/platform')

/** Folder of samebytes.h, samebytes_napi.h and samebytes_torch.h, for the compiler's include path; absolute. @type {string} */
const include = placeOf('src')

const name = process.platform === 'darwin' ? 'libsamebytes.dylib' : 'libsamebytes.so.1'

/**
 * libsamebytes, the C functions of samebytes.h alone, for programs other than Node's addons to link or load; absolute.
 * null where the package has none for this platform.
 *
 * @type {string | null}
 */
const library =
  [placeOf('build', 'Release', name), placeOf('prebuilds', platformName(), name)].find((file) =>
    fs.existsSync(file),
  ) ?? null

module.exports = { include, library }
