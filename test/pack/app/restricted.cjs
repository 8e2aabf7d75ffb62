'use strict'
// One thing done under the permission model, and how it ended.
//
//   node --permission ... restricted.cjs WHAT [FILE]
const sb = require('samebytes')
const [, , what, file] = process.argv

const things = {
  backend: () => sb.backend(),
  save: async () => {
    sb.saveNpySync(file, sb.full([3], 2))
    await sb.saveNpy(file, sb.full([3], 2)) // over the first one, whose mode it has
    return (await sb.load(file)).toArray()
  },
  create: () => sb.SharedTensor.create('samebytes-test-restricted', [4]).dispose(),
  ring: () => sb.SharedRing.create('samebytes-test-restricted', [1], { slots: 2 }).dispose(),
  list: () => sb.SharedTensor.list(),
  open: () => sb.openNpy(file),
  parse: () => sb.parseNpy(new Uint8Array(128)),
}

Promise.resolve()
  .then(things[what])
  .then(
    (value) => ({ value }),
    ({ name, code, message }) => ({ name, code, message }),
  )
  .then((result) => console.log(JSON.stringify(result)))
