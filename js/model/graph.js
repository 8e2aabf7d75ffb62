'use strict'
// Reads what a model's file says of its graph: weights and nodes, without the weights' bytes. The file is a message of protobuf (onnx.proto).

const fs = require('node:fs')
const path = require('node:path')
const { rootless } = require('../base/records')
const { failure } = require('../base/errors')

/** What a model says of one of its weights. @typedef {{ type: number, shape: number[], isExternal: boolean, location: string }} Initializer type: by ONNX's numbers; isExternal: its bytes are in another file, at location */
/** @typedef {{ op: string, domain: string, inputs: string[], outputs: string[], hidden: string[] }} GraphNode hidden: names that graphs within it read */
/** @typedef {{ initializers: Map<string, Initializer>, nodes: GraphNode[], inputs: string[], outputs: string[] }} Graph */

const WINDOW = 65536 // bytes that are read of a file at a time
const MOST_DEPTH = 64 // of graphs within graphs
const MOST_TEXT = 2 ** 20

/** A model's bytes, in memory or in a file. */
class Source {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.window = bytes
    /** of the window's first byte in the whole */
    this.from = 0
    this.size = bytes.length
    this.fd = -1
  }

  /** @param {string} path @returns {Source} to be closed @throws {Error} the system's */
  static open(path) {
    const source = new Source(new Uint8Array(0))
    source.fd = fs.openSync(path, 'r')
    source.size = fs.fstatSync(source.fd).size
    return source
  }

  /** @param {number} at @param {number} n  at most WINDOW, or bytes in memory @returns {number} index in the window of n bytes from there on */
  find(at, n) {
    if (at + n > this.size) throw broken(at)
    const isThere = at >= this.from && at + n <= this.from + this.window.length
    if (!isThere) this.#read(at, n)
    return at - this.from
  }

  /** @param {number} at @param {number} n */
  #read(at, n) {
    if (this.fd < 0) throw broken(at)
    const window = new Uint8Array(Math.min(Math.max(WINDOW, n), this.size - at))
    let length = 0
    while (length < window.length) {
      const read = fs.readSync(this.fd, window, length, window.length - length, at + length)
      if (read === 0) break
      length += read
    }
    this.window = window.subarray(0, length)
    this.from = at
    if (length < n) throw broken(at)
  }

  close() {
    if (this.fd >= 0) fs.closeSync(this.fd)
  }
}

rootless(Source)

/** @param {number} at */
const broken = (at) => failure('ERR_FORMAT', `byte ${at}: this is no model of ONNX`)

/** The fields of a message: read one after the other. */
class Fields {
  /** @param {Source} source @param {number} at @param {number} end */
  constructor(source, at, end) {
    this.source = source
    this.at = at
    this.end = end
    /** of the field that was read: its number, a varint's value, where its bytes are */
    this.number = 0
    this.value = 0
    this.from = 0
    this.to = 0
  }

  /** @returns {boolean} false: there are no more */
  next() {
    if (this.at >= this.end) return false
    const key = this.#varint()
    this.number = Math.floor(key / 8)
    const kind = key % 8
    this.from = this.to = this.at
    if (kind === 0) this.value = this.#varint()
    else if (kind === 1) this.at += 8
    else if (kind === 5) this.at += 4
    else if (kind === 2) {
      const length = this.#varint()
      this.from = this.at
      this.to = this.at += length
    } else throw broken(this.at)
    if (this.at > this.end) throw broken(this.at)
    return true
  }

  /** @returns {number} numbers of more than 53 bits lose bits: none that is read here has them */
  #varint() {
    let value = 0
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      if (this.at >= this.end) break
      const i = this.source.find(this.at++, 1)
      const byte = this.source.window[i]
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw broken(this.at)
  }

  /** The field as a message. @returns {Fields} */
  message() {
    return new Fields(this.source, this.from, this.to)
  }

  /** @returns {string} */
  text() {
    const { source, from, to } = this
    if (to - from > MOST_TEXT) throw broken(from)
    const begin = source.find(from, to - from)
    return Buffer.from(source.window.subarray(begin, begin + to - from)).toString()
  }

  /** The field's integers, packed or one. @param {number[]} list  gets them */
  integers(list) {
    if (this.from === this.to) {
      list.push(this.value)
      return
    }
    const packed = this.message()
    while (packed.at < packed.end) list.push(packed.#varint())
  }
}

rootless(Fields)

/** @param {Fields} fields  of a StringStringEntryProto of external_data @param {Initializer} about */
function readLocation(fields, about) {
  let key = ''
  while (fields.next()) {
    if (fields.number === 1) key = fields.text()
    else if (fields.number === 2 && key === 'location') about.location = fields.text()
  }
}

/** @param {Fields} fields  of a TensorProto @param {Graph} graph */
function readInitializer(fields, graph) {
  /** @type {Initializer} */
  const about = { type: 0, shape: [], isExternal: false, location: '' }
  let name = ''
  while (fields.next()) {
    if (fields.number === 1) fields.integers(about.shape)
    else if (fields.number === 2) about.type = fields.value
    else if (fields.number === 8) name = fields.text()
    else if (fields.number === 13) readLocation(fields.message(), about)
    else if (fields.number === 14) about.isExternal = fields.value === 1
  }
  graph.initializers.set(name, about)
}

/** @param {Fields} fields  of a ValueInfoProto @returns {string} its name */
function nameOfValue(fields) {
  let name = ''
  while (fields.next()) if (fields.number === 1) name = fields.text()
  return name
}

/** @param {Fields} fields  of an AttributeProto @param {string[]} hidden  gets the names that its graphs read @param {number} depth */
function readAttribute(fields, hidden, depth) {
  while (fields.next()) {
    if (fields.number !== 6 && fields.number !== 11) continue
    const graph = readGraph(fields.message(), depth + 1)
    for (const node of graph.nodes) hidden.push(...node.inputs, ...node.hidden)
    hidden.push(...graph.outputs)
  }
}

/** @param {Fields} fields  of a NodeProto @param {number} depth @returns {GraphNode} */
function readNode(fields, depth) {
  /** @type {GraphNode} */
  const node = { op: '', domain: '', inputs: [], outputs: [], hidden: [] }
  while (fields.next()) {
    if (fields.number === 1) node.inputs.push(fields.text())
    else if (fields.number === 2) node.outputs.push(fields.text())
    else if (fields.number === 4) node.op = fields.text()
    else if (fields.number === 5) readAttribute(fields.message(), node.hidden, depth)
    else if (fields.number === 7) node.domain = fields.text()
  }
  return node
}

/** @param {Fields} fields  of a GraphProto @param {number} depth @returns {Graph} */
function readGraph(fields, depth) {
  if (depth > MOST_DEPTH) throw broken(fields.at)
  /** @type {Graph} */
  const graph = { initializers: new Map(), nodes: [], inputs: [], outputs: [] }
  while (fields.next()) {
    if (fields.number === 1) graph.nodes.push(readNode(fields.message(), depth))
    else if (fields.number === 5) readInitializer(fields.message(), graph)
    else if (fields.number === 11) graph.inputs.push(nameOfValue(fields.message()))
    else if (fields.number === 12) graph.outputs.push(nameOfValue(fields.message()))
  }
  return graph
}

/**
 * Reads a model's graph.
 *
 * @param {string | Uint8Array} model  a path, or bytes
 * @returns {Graph}
 * @throws ERR_FORMAT no model of ONNX · ERR_IO the file could not be read
 */
function graphOf(model) {
  let source
  try {
    source = typeof model === 'string' ? Source.open(model) : new Source(model)
    const fields = new Fields(source, 0, source.size)
    while (fields.next()) if (fields.number === 7) return readGraph(fields.message(), 0)
  } catch (/** @type {any} */ error) {
    if (error.code === 'ERR_FORMAT') throw error
    throw Object.assign(
      failure('ERR_IO', `the model at ${model} could not be read: ${error.message}`),
      { cause: error },
    )
  } finally {
    source?.close()
  }
  throw broken(0)
}

/**
 * Pairs of inputs and outputs that may have the same bytes: past and present of one GroupQueryAttention, whose past nothing else reads.
 *
 * @param {Graph} graph
 * @returns {[string, string][]} output and input
 */
function inPlacePairs({ nodes, inputs, outputs, initializers }) {
  /** @type {Map<string, number>} */
  const readers = new Map()
  const count = (/** @type {string} */ name) => readers.set(name, (readers.get(name) ?? 0) + 1)
  for (const node of nodes) [...node.inputs, ...node.hidden].forEach(count)
  outputs.forEach(count)
  /** @type {[string, string][]} */
  const pairs = []
  for (const { op, domain, inputs: from, outputs: to } of nodes) {
    if (op !== 'GroupQueryAttention' || domain !== 'com.microsoft') continue
    for (const [past, present] of [
      [from[3], to[1]],
      [from[4], to[2]],
    ]) {
      const isInput = inputs.includes(past) && !initializers.has(past)
      if (
        isInput &&
        outputs.includes(present) &&
        readers.get(past) === 1 &&
        readers.get(present) === 1
      ) {
        pairs.push([present, past])
      }
    }
  }
  return pairs
}

/** Where a model's pairs are found: they are there, or in a file that has not changed since. Plain data. @typedef {{ pairs: [string, string][] } | { path: string, size: number, time: number }} GraphSource */

/**
 * A file is read when somebody asks for its pairs: that takes longer than loading it leaves of JavaScript's thread.
 *
 * @param {string | Uint8Array} model
 * @returns {GraphSource}
 */
function sourceOf(model) {
  if (typeof model !== 'string') return { pairs: pairsIn(model) }
  const { size, mtimeMs } = fs.statSync(model, { throwIfNoEntry: false }) ?? {
    size: -1,
    mtimeMs: 0,
  }
  return { path: model, size, time: mtimeMs }
}

/** @param {string | Uint8Array} model @returns {[string, string][]} none where it is no message of ONNX, but a file of onnxruntime's own format */
function pairsIn(model) {
  try {
    return inPlacePairs(graphOf(model))
  } catch (/** @type {any} */ error) {
    if (error.code === 'ERR_FORMAT') return []
    throw error
  }
}

/**
 * @param {any} source  perhaps forged
 * @returns {Map<string, string>} the input by the output
 * @throws ERR_UNSUPPORTED the model's file has changed since it was loaded
 */
function pairsAt(source) {
  const { pairs, path, size, time } = source ?? {}
  if (Array.isArray(pairs)) return new Map(pairs)
  const now = sourceOf(String(path))
  if ('pairs' in now || now.size !== size || now.time !== time) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the model at ${path} has changed since it was loaded, so nobody can tell which of its outputs may be in place`,
    )
  }
  return new Map(pairsIn(String(path)))
}

/**
 * A file that a model's weights are in, and that is not there. (Files of bytes' weights are the session option externalData's.)
 *
 * @param {string | Uint8Array} model
 * @returns {string | undefined} its path; undefined: all are there, or it is no model
 */
function missingFile(model) {
  if (typeof model !== 'string') return undefined
  try {
    const locations = [...graphOf(model).initializers.values()].map(({ location }) => location)
    const paths = new Set(locations.filter((each) => each !== ''))
    return [...paths]
      .map((each) => path.resolve(model, '..', each))
      .find((each) => !fs.existsSync(each))
  } catch {
    return undefined
  }
}

module.exports = { graphOf, sourceOf, pairsAt, missingFile }
