'use strict'
// Anything in any place of any call: buffers that shrink, other realms, lists with four billion holes, polluted prototypes. Each
// call returns or throws a typed error, and what it was not given stays as it was.

const { setMemoryLimit } = require('samebytes')
const { clean, drawn, dropTokens, validOf, warm, writeFiles } = require('../calls')
const { polluted, replaced, strange } = require('../values')
const { Bystanders, finished } = require('../witness')

async function run(program) {
  const { r } = program
  writeFiles()
  setMemoryLimit(2 ** 26)
  const others = new Bystanders(r)
  // A Proxy's, of what only looks like a tensor, a signal's, of an iterator over no bytes, or of a class that is called as a callback.
  program.isOwn = (error) =>
    error.name === 'AbortError' ||
    (error instanceof TypeError &&
      /revoked|proxy|Receiver must be|private member|prototype.values on a detached|requires 'new'|without 'new'/i.test(
        error.message,
      ))
  for (let step = program.long ? 300 : 60; step > 0; step--) {
    const { name, args, make, invoke } = drawn(r)
    const list = replaced(r, args.map(validOf), r.pick([0, 1, 1, 1, 2]), (right) =>
      strange(r, right),
    )
    const on = make?.()
    const undo = r.rarely(4)
      ? polluted(r, () => {
          throw new program.Thrown('polluted')
        })
      : () => {}
    await finished(program, name, () => invoke(list, on), on, { undo, shown: list })
    if (r.rarely(20)) others.check(program, name)
  }
  others.check(program, 'in the end')
  others.dispose()
  dropTokens()
  clean()
}

module.exports = {
  backends: ['native', 'wasm', 'wasm-shared'],
  programs: 50,
  before: warm,
  run,
  flags: () => ['--max-old-space-size=256'],
}
