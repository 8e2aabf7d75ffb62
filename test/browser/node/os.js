'use strict'
module.exports = {
  tmpdir: () => require('./files').SCRATCH,
  freemem: () => globalThis.RUN.freemem,
  totalmem: () => globalThis.RUN.totalmem,
}
