'use strict'
// Python is run by the test server, a program for Node in an iframe with a package of its own.
const { Buffer } = require('buffer')
const files = require('./files')
const { run } = require('./program')

function spawnSync(command, args, { input = '', encoding } = {}) {
  const request = new XMLHttpRequest()
  request.open('POST', '/python', false)
  request.send(JSON.stringify({ command, args, input, files: files.all() }))
  if (request.status !== 200) throw new Error(request.responseText)
  const answer = JSON.parse(request.responseText)
  files.add(answer.files)
  const given = (text) => (encoding ? text : Buffer.from(text))
  return { status: answer.status, stdout: given(answer.stdout), stderr: given(answer.stderr) }
}

function execFileSync(command, args, options) {
  const { status, stdout, stderr } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`)
  return stdout
}

/** Of Node itself only: execFile(process.execPath, […, '-e', source], options, done). */
function execFile(command, args, { env }, done) {
  const running = { exitCode: null }
  run(args[args.indexOf('-e') + 1], env).then(({ code, stdout, stderr }) => {
    running.exitCode = code
    done(code === 0 ? null : new Error(stderr), stdout, stderr)
  })
  return running
}

module.exports = { execFile, execFileSync, spawnSync }
