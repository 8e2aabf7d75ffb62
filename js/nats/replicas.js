'use strict'
// Which replicas of a service answer. After a request has timed out, the bus asks all of them, and for a while sends requests to those that
// answered: a queue group goes on giving requests to a replica that is frozen.

const { now } = require('../runtime/host')
const { remember } = require('./remember')

const STEER_MS = 5000
const MOST_REPLICAS = 256
const MOST_SUBJECTS = 1024

/** Subject on which all replicas answer at once with who they are; also the start of each replica's own. @param {string} subject */
const callOf = (subject) => `${subject}.replica`

/** Subject of one replica. @param {string} subject @param {string} id */
const subjectOfReplica = (subject, id) => `${callOf(subject)}.${id}`

/** The replicas of one subject that answered lately, while requests are sent to them alone. */
class Steering {
  /** when it ends */
  until = 0
  /** @type {string[]} */
  #live = []
  #next = 0

  /** @returns {string | undefined} a replica's id; undefined: any */
  pick() {
    if (this.until < now()) this.#live = []
    if (this.#live.length === 0) return undefined
    return this.#live[this.#next++ % this.#live.length]
  }

  /** @param {string} id  it answered */
  learn(id) {
    this.until = now() + STEER_MS
    if (!this.#live.includes(id) && this.#live.length < MOST_REPLICAS) this.#live.push(id)
  }

  /** @param {string} id  it did not answer */
  forget(id) {
    this.#live = this.#live.filter((each) => each !== id)
  }
}

/** @param {import('./bus').Core} core @param {string} subject @returns {Steering} of the bus, made if there is none */
function steeringOf(core, subject) {
  const all = (core.steerings ??= new Map())
  const found = all.get(subject) ?? new Steering()
  remember(all, subject, found, MOST_SUBJECTS)
  return found
}

module.exports = { Steering, steeringOf, callOf, subjectOfReplica }
