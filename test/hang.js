'use strict'
/** After so many ms a test, or a process that tests start, hangs: ten times what the slowest took on a busy machine. */
module.exports = { HANG_MS: process.env.SAMEBYTES_FULL === '1' ? 7_200_000 : 600_000 }
