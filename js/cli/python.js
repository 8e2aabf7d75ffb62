'use strict'
// samebytes python: where the Python package is, and how to install it.

const { pythonPath } = require('..')
const { library } = require('../interop/native-paths')
const { print, note, printJson, plain, styled } = require('./output')

/** A word of a shell's command line. @param {string} text */
const quoted = text => /^[\w/.@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** @param {import('./arguments').Given} given */
function python ({ values: { json } }) {
  const folder = /** @type {string} */ (pythonPath)
  if (json) return printJson({ path: folder, library })
  print([
    plain(folder),
    '',
    `${styled('bold', 'Install it:')}  pip install ${plain(quoted(folder))}`,
    `${styled('bold', 'Or use it where it is:')}  PYTHONPATH=${plain(quoted(folder))} python3 program.py`
  ].join('\n'))
  if (library === null) note(styled('dim', 'there is no libsamebytes.so.1 for this platform: rings can be read on x86-64 only', process.stderr))
}

module.exports = { python }
