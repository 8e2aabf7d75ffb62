'use strict'
// How a block of each language is checked.

const fs = require('node:fs')
const path = require('node:path')
const { execFile, spawnSync } = require('node:child_process')
const { ROOT } = require('./blocks')
const { HANG_MS } = require('../hang')
const { PYTHON } = require('../tools')

/** A sanitizer's runtime, and the addon that needs it, are for this process alone. */
const PLAIN = { LD_PRELOAD: undefined, SAMEBYTES_BINARY: undefined }

/** Runs a command to its end: { code, output }. */
function ended(command, args, { cwd, env = {} }) {
  return new Promise((resolve) => {
    const running = execFile(
      command,
      args,
      { cwd, env: { ...process.env, ...env }, timeout: HANG_MS, maxBuffer: 1 << 24 },
      (error, stdout, stderr) => {
        resolve({ code: running.exitCode ?? error?.code ?? null, stdout, output: stdout + stderr })
      },
    )
  })
}

/** A program in JavaScript, beside the sources so that `samebytes` is this package, but working in a folder of its own. */
function runScript(source, name, folder) {
  const isCommon = /\brequire\(/.test(source) && !/^import /m.test(source)
  const file = path.join(folder, `${name}.${isCommon ? 'cjs' : 'mjs'}`)
  fs.writeFileSync(file, source)
  const cwd = fs.mkdtempSync(path.join(folder, 'cwd-'))
  return ended(process.execPath, ['--expose-gc', file], { cwd, env: { SAMEBYTES_ROOT: ROOT } })
}

function runPython(source, name, folder) {
  const file = path.join(folder, `${name}.py`)
  fs.writeFileSync(file, source)
  return ended(PYTHON, [file], {
    cwd: folder,
    env: {
      ...PLAIN,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: path.join(ROOT, 'python'),
      SAMEBYTES_ROOT: ROOT,
    },
  })
}

/** What a compiler says of C or C++, with the folder of Node's headers. */
function compile(source, language, name, folder, headers) {
  const file = path.join(folder, `${name}.${language}`)
  fs.writeFileSync(file, source)
  const isC = language === 'c'
  const include = [
    path.join(ROOT, 'src'),
    headers,
    ...(isC ? [] : ['/usr/include/torch/csrc/api/include']),
  ].flatMap((place) => ['-I', place])
  return ended(
    isC ? (process.env.CC ?? 'gcc') : 'g++',
    [
      `-std=${isC ? 'gnu11' : 'c++17'}`,
      '-fsyntax-only',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-Wno-unused-function',
      '-DNAPI_VERSION=8',
      ...(isC ? [] : ['-w', '-DAT_PER_OPERATOR_HEADERS']),
      ...include,
      file,
    ],
    { cwd: folder, env: PLAIN },
  )
}

/**
 * What TypeScript says of programs in TypeScript, strictly, and of those in JavaScript, as an editor does.
 *
 * @param {{ name: string, source: string, isTypeScript: boolean }[]} list
 * @returns {Map<string, string[]>} complaints, by name
 */
function typeErrors(list, folder) {
  return new Map(
    [true, false].flatMap((isTypeScript) => {
      const some = list.filter((each) => each.isTypeScript === isTypeScript)
      return some.length === 0
        ? []
        : [
            ...complaintsOf(
              some,
              folder,
              isTypeScript
                ? { noUncheckedIndexedAccess: true }
                : {
                    noImplicitAny: false,
                    strictNullChecks: false,
                    useUnknownInCatchVariables: false,
                  },
            ),
          ]
    }),
  )
}

/**
 * `samebytes` is the sources, so that nothing has to be built: the CommonJS ones, which say the types' names.
 *
 * @param {{ name: string, source: string, isTypeScript: boolean }[]} list
 * @param {import('typescript').CompilerOptions} more
 */
function complaintsOf(list, folder, more) {
  const js = (name) => path.join(ROOT, 'js', name)
  const paths = {
    samebytes: [js('index.js')],
    'samebytes/module': [js('module.js')],
    'samebytes/native': [js('interop/native-paths.mjs')],
    'samebytes/inline': [js('index.js')],
  }
  const { exports } = require(path.join(ROOT, 'package.json'))
  for (const [name, to] of Object.entries(exports)) {
    const file = to?.node?.import?.default ?? to?.import?.default
    if (/\.\/js\//.test(file)) paths[path.posix.join('samebytes', name)] ??= [path.join(ROOT, file)]
  }
  const ts = require('typescript') // here, because a machine that runs blocks alone has none
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    ROOT,
  )
  const files = list.map(({ name, source, isTypeScript }) => {
    const file = path.join(
      folder,
      `${name}.${isTypeScript ? 'mts' : /\brequire\(/.test(source) && !/^import /m.test(source) ? 'cjs' : 'mjs'}`,
    )
    fs.writeFileSync(
      file,
      `${source}\nexport {}\n`.replace(/^(?=.*\brequire\()[^]*?\nexport \{\}\n$/, (text) =>
        file.endsWith('.cjs') ? source : text,
      ),
    )
    return file
  })
  const program = ts.createProgram(files, {
    ...options,
    noEmit: true,
    declaration: false,
    emitDeclarationOnly: false,
    rootDir: ROOT,
    paths,
    typeRoots: [path.join(ROOT, 'node_modules', '@types')],
    ...more,
  })
  const complaints = new Map(list.map(({ name }) => [name, []]))
  for (const [i, file] of files.entries()) {
    const source = program.getSourceFile(file)
    for (const diagnostic of [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ]) {
      if (diagnostic.code === 7016) continue // a package without types
      const { line } = source.getLineAndCharacterOfPosition(diagnostic.start)
      complaints
        .get(list[i].name)
        .push(
          `${source.text.split('\n')[line].trim()}\n    ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`,
        )
    }
  }
  return complaints
}

/** Has the command line such a command? Its help says so. */
function isKnown(command) {
  const { bin } = require(path.join(ROOT, 'package.json'))
  return (
    spawnSync(process.execPath, [path.join(ROOT, bin.samebytes), command, '--help'], {
      encoding: 'utf8',
    }).status === 0
  )
}

/** What is wrong with a command for a shell, or null. */
function wrongCommand(line) {
  const { scripts, bin = {} } = require(path.join(ROOT, 'package.json'))
  const words = line.replace(/\s+#.*$/, '').split(/\s+/)
  const [command, first, second] = words
  if (command === 'npm' && first === 'run') return second in scripts ? null : `no script ${second}`
  if (command === 'npm' && first === 'test') return null
  if (command === 'npm' && ['install', 'i', 'pack'].includes(first)) return null
  if (command === 'bash') return fs.existsSync(path.join(ROOT, first)) ? null : `no file ${first}`
  if (command === 'node') {
    const file = words.find((word) => /\.m?js$/.test(word))
    return file !== undefined &&
      (fs.existsSync(path.join(ROOT, file)) ||
        ['app.js', 'app.mjs', 'service.js', 'script.mjs'].includes(file))
      ? null
      : `no file ${file}`
  }
  if (command === 'npx') {
    return first === 'samebytes'
      ? wrongCommand(words.slice(1).join(' '))
      : first in bin
        ? null
        : `no command ${first}`
  }
  if (command === 'samebytes') {
    return isKnown(first)
      ? wrongArguments(
          first,
          words.slice(2, words.indexOf('|') < 0 ? undefined : words.indexOf('|')),
        )
      : `samebytes has no command ${first}`
  }
  if (['cc', 'cd', 'curl', 'diff', 'git', 'node-gyp', 'python3', 'sha256sum'].includes(command)) {
    return null
  }
  if (/^[A-Z_]+=\S+$/.test(command)) return wrongCommand(words.slice(1).join(' '))
  return `unknown command ${command}`
}

/** What the program itself would say of a command's arguments, or null. */
function wrongArguments(name, args) {
  const command = require('../../js/cli/commands').commands.find((each) => each.name === name)
  try {
    if (command !== undefined) require('../../js/cli/arguments').parse(command, args)
    return null
  } catch (error) {
    return error.message
  }
}

/** Lines for a shell, one after the other, in a folder of their own: `samebytes` and `npx samebytes` are this package's. */
async function runShell({ before, code }, folder) {
  const cwd = fs.mkdtempSync(path.join(folder, 'cwd-'))
  const program = path.join(ROOT, require(path.join(ROOT, 'package.json')).bin.samebytes)
  const setUp = `set -eu\nsamebytes () { "${process.execPath}" "${program}" "$@"; }\nnpx () { "$@"; }\nnode () { "${process.execPath}" "$@"; }\n`
  const env = { SAMEBYTES_ROOT: ROOT, NO_COLOR: '1', FORCE_COLOR: undefined }
  const results = []
  for (const line of [before, ...code.trim().split('\n')]) {
    results.push({ line, ...(await ended('bash', ['-c', setUp + line], { cwd, env })) })
  }
  return results
}

module.exports = { compile, runPython, runScript, runShell, typeErrors, wrongCommand }
