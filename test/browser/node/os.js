'use strict'
module.exports = {
  tmpdir: () => require('./files').SCRATCH,
  totalmem: () => globalThis.RUN.totalmem
}
