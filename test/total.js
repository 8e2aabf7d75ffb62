'use strict'
// What test/run.js counts, over all its processes, and how it tells that. The last line is `N passed, N failed`.
const { secondsComputed } = require('./reporter')

const total = { passed: 0, failures: [], skipped: new Map(), times: [] }

const noteSkip = (reason, backend) =>
  total.skipped.set(reason, [...(total.skipped.get(reason) ?? []), backend])
const fail = (title, text) => total.failures.push({ title, text })

function report(times) {
  const say = (text) => process.stdout.write(`${text}\n`)
  const skips = [...total.skipped].map(
    ([reason, where]) =>
      `${String(where.length).padStart(5)}  ${reason} (${[...new Set(where)].join(', ')})`,
  )
  if (skips.length > 0) say(`\nskipped:\n${skips.join('\n')}`)
  if (times) {
    say('\n       s        s\n elapsed computed')
    for (const { wall, computed, text } of total.times.sort((a, b) => b.computed - a.computed)) {
      say(`${wall.toFixed(1).padStart(8)} ${computed.toFixed(1).padStart(8)}  ${text}`)
    }
  }
  for (const [i, { title, text }] of total.failures.entries()) {
    say(`\n${i + 1}) ${title}\n${text.replace(/^/gm, '   ')}`)
  } // behind what was skipped: of a log often only the end is kept
  const all = [...total.skipped.values()].flat().length
  say(`\ncomputed for ${secondsComputed().toFixed(0)} s`)
  say(`${total.passed} passed, ${total.failures.length} failed${all > 0 ? `, ${all} skipped` : ''}`)
  process.exitCode = total.failures.length > 0 ? 1 : 0
}

module.exports = { fail, noteSkip, report, total }
