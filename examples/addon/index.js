'use strict'
// An addon in C stretches the levels of a picture, here its left half: no byte is copied.
const { memory, tensor } = require('samebytes')
const { stretch } = require('./build/Release/levels.node')

const picture = tensor(
  [
    [100, 110, 7, 7],
    [120, 130, 7, 7],
    [140, 150, 7, 7],
  ],
  { dtype: 'uint8' },
)
const left = picture.slice('...', ':2')
const before = memory().copied

const counts = stretch(left)

console.log(String(picture))
console.log(
  `levels before: ${[...counts.data].flatMap((n, level) => (n > 0 ? [`${level} (${n})`] : [])).join(', ')}`,
)
console.log(
  `copied: ${JSON.stringify(memory().copied) === JSON.stringify(before) ? 'nothing' : JSON.stringify(memory().copied)}`,
)
