'use strict'
// How a child of ../copy.js talks: a line of JSON comes, a line goes back.
//
//   { "work": … }   who can do it here: a list of names
//   { "run": name } seconds that one run took, after another of its kind: what one leaves in the
//                   caches is written back by the next

const readline = require('node:readline')

/** @param {(work: object) => Record<string, () => void> | Promise<Record<string, () => void>>} prepare  what can be run, by name */
function serve(prepare) {
  let runs = {}
  const lines = readline.createInterface({ input: process.stdin })
  lines.on('line', async (line) => {
    const { work, run } = JSON.parse(line)
    if (work) runs = {} // memory first
    console.log(
      JSON.stringify(work ? Object.keys((runs = await prepare(work))) : seconds(runs[run])),
    )
  })
}

function seconds(run) {
  run()
  const start = performance.now()
  run()
  return (performance.now() - start) / 1000
}

module.exports = { serve }
