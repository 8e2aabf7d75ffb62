'use strict'
// All functions that need files, in Node. In browsers files.browser.js takes this file's place.

const { openNpy, openNpz, openSafetensors, openGguf, openRaw } = require('./open')
const { createNpy, createSafetensors } = require('./create')
const { saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save } = require('./save')
const { load } = require('./load')

module.exports = { openNpy, openNpz, openSafetensors, openGguf, openRaw, createNpy, createSafetensors, saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save, load }
