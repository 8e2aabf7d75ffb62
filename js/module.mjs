// The same class for import as for require.
export { Module } from './module.js'

/** @typedef {import('./module.js').ModelValue} ModelValue */
/** @typedef {import('./module.js').ModelResult} ModelResult */
/** @typedef {import('./module.js').ModelSource} ModelSource */
/** @typedef {import('./module.js').SessionOptions} SessionOptions */
/** @typedef {import('./module.js').RunOptions} RunOptions */
/** @typedef {import('./module.js').ValueInfo} ValueInfo */
