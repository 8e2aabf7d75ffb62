'use strict'
// The commands: names, operands, options. Help, the parser and completion scripts are made from this list. A command's own file is
// loaded when it runs.

/** @typedef {import('./arguments').Command} Command */
/** @typedef {import('./arguments').Option} Option */

/** @type {Option} */
const json = { type: 'boolean', text: 'JSON, for programs' }

/** @type {Option} */
const dtype = {
  type: 'string',
  argument: 'DTYPE',
  text: 'what raw bytes are: of files of no format, and of arrays that NumPy wrote as raw bytes',
  choices: () => require('..').dtypes
}

const RAW = 'Files are known by their content: .npy, .npz, .safetensors, .gguf. Any other is raw bytes, of which --dtype says what they are.'
const NAMES = 'NAME is a segment of shared memory, as `samebytes ls` lists them; a file of that name here goes first.'

/** @type {Command[]} */
const commands = [
  {
    name: 'info',
    operands: 'FILE|NAME...',
    text: 'say what tensors a file or a shared segment has',
    more: [RAW, NAMES, 'No tensor is read: the header tells. The alignment is the largest power of two, up to 4096, that the tensor begins at a multiple of.'],
    examples: [['samebytes info model.safetensors', 'a table of its tensors'], ['samebytes info frames --json', 'a shared segment, for programs']],
    options: { dtype, json },
    count: [1, Infinity],
    completes: 'both',
    load: () => require('./info').info
  },
  {
    name: 'show',
    operands: 'FILE[:TENSOR] [SLICE...]',
    text: 'print a tensor, or part of it',
    more: [RAW, NAMES, 'SLICE is what slice() takes, axis by axis: an index, 1:5, ::-1, ..., null. Several are given as one argument with commas, or one each.'],
    examples: [['samebytes show a.npy', 'all of it, or its edges where it is large'], ['samebytes show model.safetensors:layer.0.weight 0,:8', 'eight elements of the first row'],
      ['samebytes show samples.raw --dtype int16 -10:', 'the last ten']],
    options: { dtype, json },
    count: [1, Infinity],
    completes: 'both',
    load: () => require('./show').show
  },
  {
    name: 'ls',
    operands: '',
    text: 'list the shared segments, and whether who made them is alive',
    more: ['Those that SharedTensor and SharedRing made, in any process. A dead owner\'s segment stays until it is removed; `samebytes sweep` removes those.'],
    examples: [['samebytes ls', 'a table'], ['samebytes ls --names', 'names only, a line each']],
    options: { names: { type: 'boolean', text: 'the names only' }, json },
    count: [0, 0],
    completes: 'none',
    load: () => require('./segments').ls
  },
  {
    name: 'rm',
    operands: 'NAME...',
    text: 'remove shared segments; who has them open keeps them',
    more: ['What belongs to a process that is alive, or was not made by samebytes, is refused without --force.'],
    examples: [['samebytes rm frames', 'takes the name away']],
    options: { force: { type: 'boolean', short: 'f', text: 'also where the owner is alive, or not known' }, json },
    count: [1, Infinity],
    completes: 'segments',
    load: () => require('./segments').rm
  },
  {
    name: 'sweep',
    operands: '',
    text: 'remove the segments that dead processes of yours left',
    more: ['Those that were made with persist stay.'],
    examples: [['samebytes sweep --dry-run', 'only says which']],
    options: { 'dry-run': { type: 'boolean', short: 'n', text: 'remove nothing, say what would be' }, json },
    count: [0, 0],
    completes: 'none',
    load: () => require('./segments').sweep
  },
  {
    name: 'convert',
    operands: 'A[:TENSOR] B',
    text: 'write the tensors of a file to a .npy, .npz or .safetensors file',
    more: [RAW, 'B is there when it is whole, or not at all. Where a file has one tensor without a name, B without its extension names it in .npz and .safetensors.'],
    examples: [['samebytes convert model.npz model.safetensors', 'all tensors'], ['samebytes convert model.gguf:token_embd.weight embedding.npy', 'one of them']],
    options: { force: { type: 'boolean', short: 'f', text: 'replace B where it is there' }, name: { type: 'string', argument: 'NAME', text: 'what the one tensor is called in B' }, dtype, json },
    count: [2, 2],
    completes: 'files',
    load: () => require('./convert').convert
  },
  {
    name: 'map',
    operands: 'SCRIPT [ARGUMENT...]',
    text: 'run a program with a map of its memory: what shares what, live on a local page',
    more: ['Options stand before SCRIPT; what stands behind it is the program\'s. The page is for this machine alone, and only who has its address sees it.'],
    examples: [['samebytes map service.mjs', 'prints the address of the page'], ['samebytes map --snapshot map.html job.mjs', 'writes the page when the program ends; .json and .txt as well']],
    options: {
      open: { type: 'boolean', text: 'start a browser' },
      port: { type: 'string', argument: 'PORT', text: 'of the page; any that is free unless told' },
      snapshot: { type: 'string', argument: 'FILE', text: 'write the map when the program ends; no page then' }
    },
    count: [1, Infinity],
    completes: 'files',
    takesRest: true,
    load: () => require('./map').map
  },
  {
    name: 'doctor',
    operands: '',
    text: 'say what this machine lets samebytes do, and what to do about the rest',
    more: ['The exit status is 1 where something is broken, not where it is only missing.'],
    examples: [['samebytes doctor --json', 'for a bug report']],
    options: { json },
    count: [0, 0],
    completes: 'none',
    load: () => require('./doctor').doctor
  },
  {
    name: 'completion',
    operands: 'bash|zsh|fish',
    text: 'print what makes a shell complete command lines of samebytes',
    examples: [['eval "$(samebytes completion bash)"', 'in ~/.bashrc'], ['eval "$(samebytes completion zsh)"', 'in ~/.zshrc, behind compinit'],
      ['samebytes completion fish | source', 'in ~/.config/fish/config.fish']],
    options: {},
    count: [1, 1],
    completes: 'shells',
    load: () => require('./completion').completion
  }
]

module.exports = { commands }
