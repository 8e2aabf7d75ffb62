'use strict'
// samebytes ls, rm, sweep: shared segments.

const { failure } = require('../base/errors')
const { backend } = require('../backend/calls')
const { SharedRing, SharedTensor } = require('..')
const { brief, plain, size, shapeText, styled, print, note, printJson, table } = require('./output')

/** @typedef {import('../sharing/segments').SegmentInfo} SegmentInfo */

/**
 * dtype and shape in a segment's header. Anybody may have written it, and it may be removed at any time.
 *
 * @param {string} name
 * @returns {{ dtype: string | null, shape: number[] | null, fault: string | null }} null: raw, removed or not readable
 */
function headerOf(name) {
  try {
    const segment = SharedTensor.open(name)
    const { dtype, shape } = segment.descriptor
    segment.dispose()
    return { dtype, shape, fault: null }
  } catch (error) {
    return { dtype: null, shape: null, fault: /** @type {any} */ (error).code ?? 'ERR_IO' }
  }
}

/** Does nobody have it? @param {SegmentInfo} segment */
const isLeft = ({ isAlive, persist }) => !isAlive && !persist

/** All segments, the two of a ring as one. */
function segmentsAndRings() {
  const all = SharedTensor.list().sort((a, b) => (a.name < b.name ? -1 : 1))
  const rings = new Map(
    all.filter(({ name }) => isRing(name)).map(({ name }) => [`${name}.control`, name]),
  )
  return all
    .filter(({ name }) => !rings.has(name))
    .map((segment) => {
      const control = all.find(({ name }) => rings.get(name) === segment.name)
      const nbytes = segment.nbytes + (control?.nbytes ?? 0)
      return { ...segment, nbytes, isRing: control !== undefined }
    })
}

/** @param {import('./arguments').Given} given */
function ls({ values: { json, names } }) {
  const found = segmentsAndRings()
  if (names) {
    const shown = found.map(({ name }) => name).filter((name) => plain(name) === name) // one per line: none with control characters
    return shown.length > 0 ? print(shown.join('\n')) : undefined
  }
  const segments = found.map((segment) => ({ ...segment, ...headerOf(segment.name) }))
  if (json) return printJson(segments.map(({ fault, ...rest }) => rest))
  if (segments.length === 0) return note('there are no shared segments')
  const rows = segments.map(
    ({ name, isAlive, persist, pid, nbytes, isRing, dtype, shape, fault }) => {
      const owner = `${isAlive ? 'alive' : 'dead'}${persist ? ', persists' : ''}`
      return [
        brief(name),
        owner,
        String(pid),
        size(nbytes),
        dtype ?? (fault === 'ERR_FORMAT' ? 'raw' : '?'),
        shape === null
          ? ''
          : isRing
            ? `ring of ${shape[0]} × ${shapeText(shape.slice(1))}`
            : shapeText(shape),
      ]
    },
  )
  /** @param {string} cell */
  const style = (cell) =>
    cell.startsWith('dead') ? /** @type {const} */ ('red') : /** @type {const} */ ('green')
  print(
    table(
      [
        { title: 'name' },
        { title: 'owner', style },
        { title: 'process', isNumber: true },
        { title: 'size', isNumber: true },
        { title: 'dtype' },
        { title: 'shape' },
      ],
      rows,
    ),
  )
  const left = segments.filter(isLeft).length
  if (left > 0) {
    note(styled('dim', `samebytes sweep removes the ${left} whose owner is dead`, process.stderr))
  }
}

/** @param {string} operand */
const nameOf = (operand) => (operand.startsWith('/') ? operand.slice(1) : operand)

/** Are there control words beside it? @param {string} name */
const isRing = (name) => require('../sharing/segments').isRing(name)

/** @param {import('./arguments').Given} given */
function rm({ values: { json, force }, operands }) {
  const known = new Map(SharedTensor.list().map((segment) => [keyOf(segment.name), segment]))
  if (!force) for (const operand of operands) checkRemovable(operand, known)
  const removed = []
  for (const operand of operands) {
    if (isRing(nameOf(operand))) SharedRing.unlink(operand)
    else SharedTensor.unlink(operand)
    removed.push(operand)
    if (!json) print(`removed ${brief(operand)}`)
  }
  if (json) printJson({ removed })
}

/** Names that are one name have one key. @param {string} name */
const keyOf = (name) => (backend.abilities.namesIgnoreCase ? name.toLowerCase() : name)

/**
 * @param {string} given
 * @param {Map<string, SegmentInfo>} known  by keyOf
 */
function checkRemovable(given, known) {
  const name = nameOf(given)
  const parts = isRing(name) ? [name, `${name}.control`] : [name]
  const found = parts.flatMap((part) => known.get(keyOf(part)) ?? [])
  const segment = found.find((part) => part.isAlive) ?? found[0]
  if (segment === undefined) {
    if (require('./open').segmentOf(name) === null) {
      throw failure('ERR_NOT_FOUND', `there is no segment ${JSON.stringify(name)}`)
    }
    throw failure(
      'ERR_BUSY',
      `${JSON.stringify(name)} was not made by samebytes; --force removes it all the same`,
    )
  }
  if (!segment.isAlive) return
  const who = isRunning(segment.pid)
    ? `belongs to process ${segment.pid}, which is alive`
    : `is in use: process ${segment.pid}, which made it, has ended, but another one has it`
  throw failure('ERR_BUSY', `${JSON.stringify(name)} ${who}; --force removes its name all the same`)
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return /** @type {any} */ (error).code === 'EPERM' // another user's
  }
}

/** @param {import('./arguments').Given} given */
function sweep({ values }) {
  const { json, 'dry-run': isDry } = values
  const names = isDry
    ? SharedTensor.list().flatMap((segment) => (isLeft(segment) ? segment.name : []))
    : SharedTensor.sweep()
  if (json) return printJson({ [isDry ? 'found' : 'removed']: names })
  if (names.length === 0) return note('no process that has ended left a segment')
  print(names.map((name) => `${isDry ? 'would remove' : 'removed'} ${brief(name)}`).join('\n'))
}

module.exports = { ls, rm, sweep }
