'use strict'
// The commands: names, operands, options. Help and the parser are made from this list. A command's own file is loaded
// when it runs.

/** @typedef {import('./arguments').Command} Command */
/** @typedef {import('./arguments').Option} Option */

/** An option without a value. @param {string} text @param {string} [short] @returns {Option} */
const flag = (text, short) => ({ type: 'boolean', text, short })

/** An option with a value. @param {string} argument @param {string} text @param {Option['choices']} [choices] @returns {Option} */
const value = (argument, text, choices) => ({ type: 'string', argument, text, choices })

const dtypes = () => require('..').dtypes

const json = flag('print JSON, for programs')
const dtype = value(
  'DTYPE',
  'what raw bytes are: those of files of no known format, and of arrays that NumPy wrote as raw bytes',
  dtypes,
)

const FILES =
  'FILE is a .npy, .npz, .safetensors or .gguf file, by its content: the extension does not matter. Any other file is raw bytes, and --dtype says what they are.'
const URLS =
  'A URL that begins with https:// or http:// is a file as well; only what is shown is fetched. A URL that ends in .index.json is an index of several .safetensors.'
const NAMES =
  'NAME is a segment of shared memory, as `samebytes ls` lists it. If a file in this folder has the same name, the file is taken.'

/** @type {Command[]} */
const commands = [
  {
    name: 'info',
    operands: 'FILE|NAME...',
    text: 'list the tensors of a file or of a shared segment',
    more: [
      FILES,
      NAMES,
      URLS,
      "Only headers are read. alignment is the largest power of two, up to 4096, that divides the tensor's offset in the file.",
    ],
    examples: [
      ['samebytes info model.safetensors', 'a table of its tensors'],
      ['samebytes info frames --json', 'a shared segment, as JSON'],
      [
        'samebytes info https://example.org/model.safetensors',
        'its header is fetched, and nothing else',
      ],
    ],
    options: { dtype, json },
    count: [1, Infinity],
    load: () => require('./info').info,
  },
  {
    name: 'show',
    operands: 'FILE|NAME[:TENSOR] [SLICE...]',
    text: 'print a tensor, or part of it',
    more: [
      FILES,
      NAMES,
      URLS,
      "TENSOR is the name of one of the file's tensors; in a URL the first colon behind host and port begins it (%3A is a colon of the URL). Without it all are printed if the file has at most 20 tensors and 1000 elements; else a table of the first 20.",
      'SLICE is what slice() takes, one for each axis: an index such as 3 or -1, a range such as 1:5 or ::-1, ..., or null for a new axis. Separate them by commas or spaces.',
    ],
    examples: [
      ['samebytes show a.npy', 'all of it; only its edges if it has more than 1000 elements'],
      ['samebytes show model.safetensors:layer.0.weight 0,:8', 'eight elements of the first row'],
      ['samebytes show samples.raw --dtype int16 -10:', 'the last ten'],
      ['samebytes show frames', 'a shared segment'],
    ],
    options: { all: flag('print every tensor of a file, and every line'), dtype, json },
    count: [1, Infinity],
    load: () => require('./show').show,
  },
  {
    name: 'ls',
    operands: '',
    text: 'list the shared segments, and whether their owners are alive',
    more: [
      'These are the segments that SharedTensor and SharedRing made, in any process. A segment whose owner is dead stays until it is removed; `samebytes sweep` removes all of those.',
    ],
    examples: [
      ['samebytes ls', 'a table'],
      ['samebytes ls --names', 'only names, one per line'],
    ],
    options: { names: flag('print only the names'), json },
    load: () => require('./segments').ls,
  },
  {
    name: 'rm',
    operands: 'NAME...',
    text: 'remove shared segments; processes that have them open keep them',
    more: [
      'NAME is a segment of shared memory, as `samebytes ls` lists it. Without --force, a segment whose owner is alive is not removed, nor one that samebytes did not make.',
    ],
    examples: [
      ['samebytes rm frames', "removes the segment's name"],
      ['samebytes rm --force frames', 'the same if its owner is alive'],
    ],
    options: { force: flag('also if the owner is alive or not known', 'f'), json },
    count: [1, Infinity],
    load: () => require('./segments').rm,
  },
  {
    name: 'sweep',
    operands: '',
    text: 'remove the segments that your dead processes left',
    more: ['Segments that were made with persist: true stay.'],
    examples: [
      ['samebytes sweep', 'removes them, and prints their names'],
      ['samebytes sweep --dry-run', 'only prints their names'],
    ],
    options: { 'dry-run': flag('remove nothing, print what would be removed', 'n'), json },
    load: () => require('./segments').sweep,
  },
  {
    name: 'convert',
    operands: 'A[:TENSOR] B',
    text: 'write the tensors of a file to a .npy, .npz or .safetensors file',
    more: [
      'A is a .npy, .npz, .safetensors or .gguf file (by its content), one at a URL, a shared segment, or a file of raw bytes, for which --dtype or --raw is needed. TENSOR is the name of one of its tensors; in a URL the first colon behind host and port begins it (%3A is a colon of the URL).',
      "B ends in .npy (one tensor), .npz or .safetensors. It appears when it is complete, or not at all. If A's tensor has no name, it is named like B without the extension in .npz and .safetensors.",
      'With --prepacked A is a model, A.onnx, and B.onnx is the same one for this version of onnxruntime and this kind of processor: its weights lie as kernels want them, in B.onnx.data, which all sessions and processes that load it map.',
      'With --dtype every tensor of B has that dtype. A cast that would lose fractions or imaginary parts is refused, and so are integers that do not fit. NumPy has no bfloat16 and no float8: .npy and .npz need a --dtype for them.',
    ],
    examples: [
      ['samebytes convert model.npz model.safetensors', 'all tensors'],
      ['samebytes convert model.gguf:token_embd.weight embedding.npy', 'one of them'],
      [
        'samebytes convert model.safetensors model.npz --dtype float32',
        'for NumPy, also if A has bfloat16',
      ],
      [
        'samebytes convert samples.raw samples.npy --raw int16 --dtype float32',
        'raw bytes of int16, as float32',
      ],
      ['samebytes convert model.onnx packed.onnx --prepacked', 'weights that processes share'],
    ],
    options: {
      dtype: value('DTYPE', 'the dtype of every tensor of B', dtypes),
      raw: value(
        'DTYPE',
        "what A's raw bytes are, if not --dtype: those of a file of no known format, or of arrays that NumPy wrote as raw bytes",
        dtypes,
      ),
      name: value('NAME', 'the name of the tensor in B, if there is only one'),
      prepacked: flag('write a model for this onnxruntime and processor'),
      force: flag('replace B if it exists', 'f'),
      json,
    },
    count: [2, 2],
    load: () => require('./convert').convert,
  },
  {
    name: 'map',
    operands: 'SCRIPT [ARGUMENT...]',
    text: 'run a program, and show which of its tensors share memory',
    more: [
      "SCRIPT is a file that Node.js runs; each ARGUMENT goes to it. Options of samebytes stand before SCRIPT or directly behind it; what follows -- is the program's.",
      'The map is a page that updates itself. Only this machine can open it, and only with the address that is printed.',
      "SCRIPT may be TypeScript where Node.js runs it, from version 22.18 on. Elsewhere compile it first, or use a loader: NODE_OPTIONS='--import tsx' samebytes map app.ts",
    ],
    examples: [
      ['samebytes map service.mjs', 'prints the address of the page'],
      [
        'samebytes map --snapshot map.html job.mjs',
        'writes the map when the program ends; .json and .txt as well',
      ],
    ],
    options: {
      open: flag('open the page in a browser'),
      port: value('PORT', 'the port of the page; by default any free one'),
      snapshot: value(
        'FILE',
        'write the map to FILE (.html, .json or .txt) when the program ends, and serve no page',
      ),
    },
    count: [1, Infinity],
    takesRest: true,
    load: () => require('./map').map,
  },
  {
    name: 'nats',
    operands: 'serve|put|get [OPERAND...]',
    text: 'serve a model over NATS, store files of tensors and get them',
    more: [
      'Each OPERAND is for the word before it. serve MODEL SUBJECT answers requests for SUBJECT by MODEL, an .onnx file, until Ctrl-C; as many of it as are started share the work.',
      'put FILE [NAME] stores FILE (.npy, .npz or .safetensors) as NAME; get NAME [FILE] writes it to FILE, which appears when it is complete and its digest is right.',
      'The packages @nats-io/transport-node, @nats-io/jetstream and @nats-io/services are needed beside samebytes.',
    ],
    examples: [
      ['samebytes nats serve vit.onnx models.vit --batch 16', 'up to 16 requests in one run'],
      [
        'samebytes nats put vit.safetensors --server 10.0.0.5:4222 --user worker --tlsca ca.pem',
        'as a user, over TLS',
      ],
      ['samebytes nats put vit.safetensors', 'into the bucket "tensors"'],
      ['samebytes nats get vit.safetensors --bucket weights', 'out of another one'],
    ],
    options: {
      server: value(
        'URL',
        'of the server, or some with commas; by default NATS_URL, or 127.0.0.1:4222',
      ),
      user: value('NAME', "a user's name; by default NATS_USER. The password is in NATS_PASSWORD"),
      creds: value('FILE', "a user's credentials, with a JWT"),
      nkey: value('FILE', "a user's seed"),
      tlsca: value('FILE', "certificate of the CA that signed the server's, for TLS"),
      tlscert: value('FILE', 'certificate of the user, for servers that ask for one'),
      tlskey: value('FILE', 'its key'),
      queue: value('NAME', 'serve: replicas of one queue share the requests'),
      batch: value('N', 'serve: at most so many requests in one run, along their first axis'),
      wait: value('MS', 'serve: how long a batch waits for more'),
      bucket: value('NAME', 'put, get: the bucket; by default "tensors"'),
    },
    count: [1, 3],
    load: () => require('./nats').nats,
  },
  {
    name: 'doctor',
    operands: '',
    text: 'check what samebytes can use on this machine, and say how to get the rest',
    more: [
      'It checks the back end, instruction set, threads, memory, shared memory, CUDA and onnxruntime. The exit status is 1 if something is broken, not if it is only missing.',
    ],
    examples: [
      ['samebytes doctor', 'a table'],
      ['samebytes doctor --json', 'for a bug report'],
    ],
    options: {
      'try-native': flag('load the native addon in a process of its own, and try it'),
      json,
    },
    load: () => require('./doctor').doctor,
  },
]

module.exports = { commands }
