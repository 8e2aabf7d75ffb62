'use strict'
// Parses a command line into options and operands, by node:util's parseArgs. Errors here say what was probably meant.

const { parseArgs } = require('node:util')
const { nearest } = require('../base/nearest')
const { plain } = require('./output')

/** The command line is wrong: exit status 2, with a pointer to --help. */
class UsageError extends Error {}

/**
 * An option of a command.
 *
 * @typedef {object} Option
 * @property {'boolean' | 'string'} type
 * @property {string} text  what it does
 * @property {string} [argument]  what its value is called
 * @property {string} [short]
 * @property {() => readonly string[]} [choices]
 */

/**
 * A command of the program.
 *
 * @typedef {object} Command
 * @property {string} name
 * @property {string} operands  as the usage line says them
 * @property {string} text  what it does, in a line
 * @property {string[]} [more]  lines about it
 * @property {[string, string][]} examples  command lines, and what they do
 * @property {Record<string, Option>} options
 * @property {[number, number]} [count]  of operands: at least, at most; none unless told
 * @property {boolean} [takesRest]  arguments behind the first operand are another program's, but for options of the command directly behind it
 * @property {() => (given: Given) => Promise<number | void> | number | void} load
 */

/** What a command was given. @typedef {{ values: Record<string, any>, operands: string[] }} Given */

const MARK = '\0' // before what looks like an option and is none; no argument can have it

/**
 * @param {string} given
 * @param {readonly string[]} known
 * @param {string} [mark]  before what is known
 */
function didYouMean(given, known, mark = '') {
  const name = nearest(given, known)
  return name === null ? '' : `; did you mean ${mark}${name}?`
}

/** Whether it is a slice such as -1 or -3:, not an option. @param {string} text */
const isSlice = (text) => /^-\d/.test(text)

/**
 * @param {Command} command
 * @param {string[]} args
 * @returns {Given}
 * @throws {UsageError}
 */
function parse(command, args) {
  const { options: own, rest } = separate(command, args)
  /** @type {Record<string, Option>} */
  const options = { ...command.options, help: { type: 'boolean', text: '', short: 'h' } }
  const { values, positionals, tokens } = parseArgs({
    args: own.map((arg) => (isSlice(arg) ? MARK + arg : arg)),
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        short === undefined ? { type } : { type, short },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) if (token.kind === 'option') checkOption(token, options)
  const operands = [...positionals.map(unmarked), ...rest]
  for (const [name, value] of Object.entries(values)) values[name] = unmarked(value)
  if (values.help) return { values, operands }
  const [least, most] = command.count ?? [0, 0]
  if (operands.length < least) {
    throw new UsageError(
      operands.length === 0
        ? `${command.operands} is missing`
        : `${command.operands} was expected; ${JSON.stringify(plain(operands.join(' ')))} is not all of it`,
    )
  }
  if (operands.length > most) {
    throw new UsageError(
      `${JSON.stringify(plain(operands[most]))} is one too many: ${most === 0 ? 'nothing' : command.operands} was expected`,
    )
  }
  return { values, operands }
}

/**
 * @template T
 * @param {T} value
 * @returns {T}
 */
const unmarked = (value) =>
  /** @type {any} */ (typeof value === 'string' ? value.replaceAll(MARK, '') : value)

/**
 * Separates a command's arguments from those of the program that it runs. Options of the command may stand before the program and
 * directly behind it; `--` ends them.
 *
 * @param {Command} command
 * @param {string[]} args
 */
function separate({ takesRest, options }, args) {
  if (!takesRest) return { options: args, rest: [] }
  const isOwn = (/** @type {string} */ arg) =>
    arg.startsWith('--') && Object.hasOwn(options, arg.slice(2).split('=')[0])
  const behind = (/** @type {number} */ i) =>
    i + (options[args[i].slice(2)]?.type === 'string' ? 2 : 1) // the option's value
  let at = 0
  while (at < args.length && args[at].startsWith('-') && args[at] !== '--') at = behind(at)
  if (args[at] === '--') return { options: args.slice(0, at), rest: args.slice(at + 1) }
  let end = at + 1
  while (end < args.length && isOwn(args[end])) end = behind(end)
  const first = args[end] === '--' ? end + 1 : end
  return {
    options: [...args.slice(0, at), ...args.slice(at + 1, end)],
    rest: [...args.slice(at, at + 1), ...args.slice(first)],
  }
}

/**
 * @param {{ name: string, rawName: string, value?: string, inlineValue?: boolean }} token
 * @param {Record<string, Option>} options
 */
function checkOption({ name, rawName, value, inlineValue }, options) {
  const given = plain(rawName)
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined) {
    throw new UsageError(
      `there is no option ${given}${rawName.startsWith('--') ? didYouMean(name, Object.keys(options), '--') : ''}`,
    )
  }
  if (option.type === 'boolean') {
    if (value !== undefined) {
      throw new UsageError(`${given} takes no value; it was given ${JSON.stringify(plain(value))}`)
    }
    return
  }
  const text = value === undefined ? undefined : unmarked(value)
  if (
    text === undefined ||
    text === '' ||
    (text.startsWith('-') && !inlineValue && !isSlice(text))
  ) {
    throw new UsageError(`${given} needs a value: ${given} ${option.argument}`)
  }
  const choices = option.choices?.()
  if (choices !== undefined && !choices.includes(text)) {
    throw new UsageError(
      `${given} is ${JSON.stringify(plain(text))}; one of ${choices.join(', ')} was expected${didYouMean(text, choices)}`,
    )
  }
}

module.exports = { UsageError, parse, didYouMean }
