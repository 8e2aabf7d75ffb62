'use strict'
// Linux's mingw for programs under Wine, which cannot wait for a program of Linux themselves: a program of Windows in a tool's place writes down
// what it was asked for, and this process does it.
//
//   node test/windows/compiler.js FOLDER DRIVE_C    serves FOLDER, which has the tools, until it is killed

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const TOOLS = ['gcc', 'nm', 'objdump'].map((name) => `x86_64-w64-mingw32-${name}`)

const STAND_IN = `
#include <stdio.h>
#include <string.h>
#include <windows.h>

int main(int argc, char **argv) {
  char self[MAX_PATH], folder[MAX_PATH], text[MAX_PATH], ready[MAX_PATH], done[MAX_PATH], bytes[4096];
  int status = 1;
  size_t n;
  GetModuleFileNameA(NULL, self, sizeof self);
  char *name = strrchr(self, '\\\\');
  *name++ = 0;
  name[strlen(name) - 4] = 0; /* .exe */
  snprintf(text, sizeof text, "%s\\\\%lu.text", self, GetCurrentProcessId());
  snprintf(ready, sizeof ready, "%s\\\\%lu.ready", self, GetCurrentProcessId());
  snprintf(done, sizeof done, "%s\\\\%lu.done", self, GetCurrentProcessId());
  GetCurrentDirectoryA(sizeof folder, folder);
  FILE *file = fopen(text, "wb");
  fprintf(file, "%s%c%s", folder, 0, name);
  for (int i = 1; i < argc; i++) fprintf(file, "%c%s", 0, argv[i]);
  fclose(file);
  MoveFileA(text, ready);
  while (!(file = fopen(done, "rb"))) Sleep(10);
  if (fread(&status, sizeof status, 1, file) != 1) return 1;
  while ((n = fread(bytes, 1, sizeof bytes, file)) > 0) fwrite(bytes, 1, n, stdout);
  fclose(file);
  DeleteFileA(done);
  return status;
}
`

const [, , folder, driveC] = process.argv

/** @param {string} text  a path of Windows, perhaps with an option before it */
const translated = (text) =>
  /[A-Za-z]:[\\/]/.test(text)
    ? text
        .replace(/[Zz]:(?=[\\/])/, '')
        .replace(/[Cc]:(?=[\\/])/, driveC)
        .replaceAll('\\', '/')
    : text

/** @param {string} file  of one request */
function serve(file) {
  const [cwd, name, ...args] = fs.readFileSync(file, 'utf8').split('\0')
  fs.rmSync(file)
  const { status, stdout, stderr } = spawnSync(name, args.map(translated), {
    cwd: translated(cwd),
    maxBuffer: 2 ** 30,
  })
  const code = Buffer.alloc(4)
  code.writeInt32LE(status ?? 1)
  const place = file.replace(/ready$/, '')
  fs.writeFileSync(`${place}half`, Buffer.concat([code, stdout, stderr]))
  fs.renameSync(`${place}half`, `${place}done`)
}

/** Puts the tools into a folder. @param {string} into */
function prepare(into) {
  const source = path.join(into, 'stand-in.c')
  fs.writeFileSync(source, STAND_IN)
  for (const name of TOOLS) {
    execFileSync(TOOLS[0], ['-O2', '-o', path.join(into, `${name}.exe`), source])
  }
}

if (require.main === module) {
  setInterval(() => {
    for (const name of fs.readdirSync(folder)) {
      if (name.endsWith('.ready')) serve(path.join(folder, name))
    }
  }, 10)
}

module.exports = { prepare }
