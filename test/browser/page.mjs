// Starts the package and runs the tests, in the page. run.js says what, and hears of every event by a line of the console.
import * as samebytes from '/dist/samebytes.mjs'
import * as samebytesModule from '/dist/samebytes-module.mjs'
import * as samebytesMath from '/dist/samebytes-math.mjs'
import * as second from '/second/samebytes.mjs'
import { files } from 'tests'
import { titleOf, reasonOf, describeError } from '../describe'
import { CANNOT } from '../cannot'

const { wanted, init, timeout, grep, skipped } = globalThis.RUN
const print = console.debug.bind(console) // tests may replace it
const note = (entry) => print(globalThis.RUN.note + JSON.stringify(entry))
globalThis.gc ??= () => globalThis.TestUtils.gc() // Firefox: a promise

await samebytes.init(init)
await samebytesMath.init()
await second.init()
globalThis.samebytes = { ...samebytes }
globalThis.samebytesModule = samebytesModule
globalThis.samebytesMath = { ...samebytesMath }
globalThis.otherSamebytes = { ...second }

const { mocha } = globalThis
mocha.setup({ ui: 'bdd', reporter, timeout, grep })
const { usesShared } = globalThis // in place before the package took its functions
for (const file of wanted) {
  note({ event: 'load', file })
  mocha.suite.emit('pre-require', globalThis, file, mocha)
  files[file]()
  mocha.suite.emit('post-require', globalThis, file, mocha)
  usesShared()
}
const isSkipped = new Set(skipped)
mocha.suite.eachTest((test) => {
  if (!isSkipped.has(`${test.file} ${titleOf(test)}`)) return
  test.pending = true
  test.skipReason = CANNOT.SharedArrayBuffer.reason
})
mocha.run()

function reporter(runner) {
  runner.on('suite', (suite) => {
    if (suite.file) note({ event: 'test', file: suite.file, title: `${titleOf(suite)} (hooks)` })
  })
  runner.on('hook', () => note({ event: 'hook' }))
  runner.on('test', (test) => note({ event: 'test', file: test.file, title: titleOf(test) }))
  runner.on('pass', (test) =>
    note({ event: 'pass', file: test.file, title: titleOf(test), usesShared: usesShared() }),
  )
  runner.on('pending', (test) =>
    note({ event: 'skip', title: titleOf(test), reason: reasonOf(test) }),
  )
  runner.on('fail', (test, error) =>
    note({ event: 'fail', title: titleOf(test), text: describeError(error) }),
  )
  runner.on('end', () => note({ event: 'end' }))
}
