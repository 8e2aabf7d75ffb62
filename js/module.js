'use strict'
// samebytes/module: models run by onnxruntime, with an API like ExecuTorch's Module.

const { Module } = require('./model/module')

/** @typedef {import('./model/module').ModelValue} ModelValue */
/** @typedef {import('./model/module').ModelResult} ModelResult */
/** @typedef {import('./model/module').ModelSignature} ModelSignature */
/** @template M @typedef {import('./model/module').InputsOf<M>} InputsOf */
/** @template M @typedef {import('./model/module').OutputsOf<M>} OutputsOf */
/** @template M @typedef {import('./model/module').ResultsOf<M>} ResultsOf */
/** @typedef {import('./model/module').ModelSource} ModelSource */
/** @typedef {import('./model/module').SessionOptions} SessionOptions */
/** @template [M=any] @typedef {import('./model/module').RunOptions<M>} RunOptions */
/** @typedef {import('./model/module').ValueInfo} ValueInfo */

module.exports = { Module }
