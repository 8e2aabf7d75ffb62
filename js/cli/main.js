'use strict'
// Runs a command. Exit status: 0 done, 1 failed, 2 the command line is wrong.

const { commands } = require('./commands')
const { UsageError, parse, didYouMean } = require('./arguments')
const { plain, print, note, complain, styled, endWithReader, widthOf, failed } = require('./output')

/** @typedef {import('./arguments').Command} Command */

const MISUSED = 2
const INTERRUPTED = 130
const WIDTH = 100 // of help

/** @returns {string} */
function help() {
  return [
    'samebytes: tensors whose bytes are shared, not copied',
    '',
    `${styled('bold', 'Usage:')} samebytes COMMAND ...`,
    '',
    styled('bold', 'Commands:'),
    ...twoColumns(commands.map(({ name, text }) => [name, text])),
    '',
    'samebytes COMMAND --help explains a command. samebytes --version prints the version.',
  ].join('\n')
}

/**
 * @param {Command} command
 * @returns {string}
 */
function helpOf({ name, operands, text, more = [], options, examples }) {
  const rows = Object.entries(options).map(([option, { short, argument, text: about }]) => {
    const long = argument === undefined ? `--${option}` : `--${option} ${argument}`
    return [short === undefined ? `    ${long}` : `-${short}, ${long}`, about]
  })
  rows.push(['-h, --help', 'print this help'])
  return [
    `${styled('bold', 'Usage:')} samebytes ${[name, '[OPTION...]', operands].filter((part) => part !== '').join(' ')}`,
    '',
    ...wrapped(`${text[0].toUpperCase()}${text.slice(1)}.`, 0),
    ...more.flatMap((paragraph) => ['', ...wrapped(paragraph, 0)]),
    '',
    styled('bold', 'Options:'),
    ...twoColumns(rows),
    '',
    styled('bold', 'Examples:'),
    ...examples.flatMap(([line, about]) => [
      `  ${line}`,
      ...wrapped(about, 6).map((part) => `      ${part}`),
    ]),
  ].join('\n')
}

/** @param {string[][]} rows  a word and a text @returns {string[]} lines */
function twoColumns(rows) {
  const width = Math.max(...rows.map(([word]) => word.length))
  return rows.flatMap(([word, text]) =>
    wrapped(text, width + 4).map((line, i) => `  ${(i === 0 ? word : '').padEnd(width)}  ${line}`),
  )
}

/**
 * @param {string} text
 * @param {number} indent
 * @returns {string[]} lines
 */
function wrapped(text, indent) {
  const lines = ['']
  const width = widthOf(WIDTH)
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + word.length + 1 + indent > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/**
 * @param {string[]} args
 * @returns {Promise<number | void>} exit status; nothing: 0
 */
async function main(args) {
  endWithReader()
  /** @type {Command | undefined} */
  let command
  try {
    const [first, ...rest] = args
    if (first === undefined) {
      note(help())
      return MISUSED
    }
    if (first === '--version' || first === '-v') return print(require('../base/version').version)
    if (first === '--help' || first === '-h') return print(help())
    if (first === 'help') {
      if (rest.length > 1) throw new UsageError('help takes one command')
      return print(rest.length === 0 ? help() : helpOf(commandOf(rest[0])))
    }
    command = commandOf(first)
    const given = parse(command, rest)
    if (given.values.help) return print(helpOf(command))
    return await command.load()(given)
  } catch (/** @type {any} */ error) {
    const who = command === undefined ? 'samebytes' : `samebytes ${command.name}`
    if (error instanceof UsageError) {
      complain(who, `${error.message}\nSee ${who} --help.`)
      return MISUSED
    }
    if (error?.name === 'AbortError') {
      complain(who, 'interrupted')
      return INTERRUPTED
    }
    return failed(who, error)
  }
}

/**
 * @param {string} name
 * @returns {Command}
 */
function commandOf(name) {
  const command = commands.find((each) => each.name === name)
  if (command !== undefined) return command
  if (name.startsWith('-')) {
    throw new UsageError(`there is no option ${plain(name)} before the command`)
  }
  const names = commands.map((each) => each.name)
  throw new UsageError(
    `there is no command ${JSON.stringify(plain(name))}${didYouMean(name, names)}`,
  )
}

module.exports = { main }
