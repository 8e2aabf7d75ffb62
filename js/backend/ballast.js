'use strict'
// Node has no ballast (ballast.browser.js): its ArrayBuffers take memory before anybody touches them.

/**
 * @param {number} nbytes
 * @returns {ArrayBuffer | null}
 */
const ballastOf = nbytes => null

/** @param {ArrayBuffer} ballast */
function keepSpare (ballast) {}

module.exports = { ballastOf, keepSpare }
