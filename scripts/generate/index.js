'use strict'
// Writes the generated files of js/: the functions of samebytes/math from src/math/ops.def, their asynchronous forms, and the entry files.
//
//   node scripts/generate            writes them
//   node scripts/generate --check    names those that are stale, and writes none

const { mathFunctions, mathLater, mathEntry, mathModule } = require('./math-functions')
const { write } = require('./write')

write(
  {
    'js/math/functions.js': mathFunctions,
    'js/math/async.js': mathLater,
    'js/math.js': mathEntry,
    'js/math.mjs': mathModule,
  },
  'npm run generate',
)
