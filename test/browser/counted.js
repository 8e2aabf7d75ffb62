'use strict'
// What samebytes copied, for tests in pages.
const assert = require('node:assert/strict')
const { empty, memory } = require('samebytes')

/** What fn did: { result, copied: { [reason]: [count, bytes] }, staged: [count, bytes] }. */
async function counted(fn) {
  const before = memory()
  const result = await fn()
  const after = memory()
  const copied = {}
  for (const [reason, { count, bytes }] of Object.entries(after.copied)) {
    const was = before.copied[reason] ?? { count: 0, bytes: 0 }
    if (count !== was.count) copied[reason] = [count - was.count, bytes - was.bytes]
  }
  return {
    result,
    copied,
    staged: [after.staged.count - before.staged.count, after.staged.bytes - before.staged.bytes],
  }
}

/** The promise must be rejected with this code. */
async function rejects(promise, code, pattern = /\S{3}/) {
  const error = await promise.then(
    () => assert.fail('nothing was thrown'),
    (error) => error,
  )
  assert.equal(error.code, code, error.stack)
  assert.match(error.message, pattern)
}

/** Memory grows, however much of it other tests have left free. */
function grow() {
  const { grown } = memory()
  const blocks = []
  while (memory().grown === grown) blocks.push(empty([2 ** 25], 'uint8'))
  for (const block of blocks) block.dispose()
}

module.exports = { counted, rejects, grow }
