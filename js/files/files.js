'use strict'
// All functions that need files, in Node; each of the files below is read when it is first needed. In browsers files.browser.js takes this
// file's place.

const { functionsOf } = require('../runtime/lazy')

const { openNpy, openNpz, openSafetensors, openGguf, openRaw } = functionsOf(() =>
  require('./open'),
)
const { createNpy, createSafetensors } = functionsOf(() => require('./create'))
const { saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save } =
  functionsOf(() => require('./save'))
const { load } = functionsOf(() => require('./load'))

module.exports = {
  openNpy,
  openNpz,
  openSafetensors,
  openGguf,
  openRaw,
  createNpy,
  createSafetensors,
  saveNpy,
  saveNpz,
  saveSafetensors,
  saveNpySync,
  saveNpzSync,
  saveSafetensorsSync,
  save,
  load,
}
