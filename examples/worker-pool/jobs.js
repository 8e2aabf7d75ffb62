'use strict'
// What pool and workers agree on.

const JOB = 258 // int32: the job's number, its cost, and data
const END = -1 // the number that ends a worker

/** Does a job cost 10,000 times as much as most? */
const isDear = (number) => number % 1000 === 7

/** Makes a job, in place. */
function fillIn(frame, number) {
  frame[0] = number
  frame[1] = isDear(number) ? 10000 : number % 97 === 3 ? 50 : 1
  for (let i = 2; i < JOB; i++) frame[i] = Math.imul(number + 1, 2654435761 + i)
}

/** The work: rounds of a hash over the data, where they are. @returns {number} an int32 */
function workOn(frame) {
  let hash = frame[0]
  for (let round = frame[1]; round > 0; round--) {
    for (let i = 2; i < JOB; i++) hash = Math.imul(hash ^ frame[i], 16777619)
  }
  return hash
}

module.exports = { END, JOB, fillIn, isDear, workOn }
