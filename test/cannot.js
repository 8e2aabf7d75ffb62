'use strict'
// What a back end cannot do, or what its tests need not do again: feature → the back ends and pages, and why. Tests name a
// feature and are skipped there (setup.js: needs, skipWithout); test/run.js counts the skips by reason. Programs: test/tools.js.

const WASM = ['wasm', 'wasm-shared']

const CANNOT = {
  addresses: {
    places: WASM,
    reason: 'an address needs the native addon: WASM sees its own memory only',
  },
  'buffers of their own': {
    places: WASM,
    reason: 'all tensors lie in the one buffer of WASM memory',
  },
  'memory that can be detached': {
    places: WASM,
    reason: 'the buffer of WASM memory cannot be transferred',
  },
  'memory that grows': {
    places: ['native'],
    reason: 'the addon has no memory that grows and moves',
  },
  'the addon': { places: WASM, reason: 'about the addon itself' },
  "onnxruntime's library": {
    places: [...WASM, 'system without onnxruntime in C'],
    reason: "models run by onnxruntime's C library on Linux on x64, with glibc",
  },
  'one memory for all threads': {
    places: ['native', 'wasm'],
    reason: 'only wasm-shared has memory that all threads see whole',
  },
  declarations: {
    places: WASM,
    reason: 'the declarations do not depend on the back end: compiled once, on native',
  },
  'a Node of its own': {
    places: ['page'],
    reason: 'starts a Node, or is about how Node loads the package',
  },
  "the package's sources": {
    places: ['page'],
    reason: 'compares sources with sources, which are the same everywhere',
  },
  'buffers that Node keeps': { places: ['page'], reason: "about the pool of Node's small Buffers" },
  'another init': {
    places: ['page'],
    reason:
      'a page that has its memory refuses other options of init; test/browser/init.js tries them in fresh pages',
  },
  'results in place': {
    places: ['page'],
    reason:
      'onnxruntime-web writes results to memory of its own, from where they are copied; module-web.test.js counts that',
  },
  'a thread that may wait': { places: ['page'], reason: 'a page must not wait; its workers may' },
  'frames of I422 and I444': {
    places: ['page of Firefox'],
    reason: 'Firefox makes no VideoFrames of these formats',
  },
  'frames that take buffers over': {
    places: ['page of Firefox'],
    reason: 'Firefox copies what a VideoFrame is made of, also what is named in transfer',
  },
  SharedArrayBuffer: {
    places: ['page without isolation'],
    reason: 'a page that is not isolated has no SharedArrayBuffer',
  },
  'external SharedArrayBuffers': {
    places: ['Node without external SharedArrayBuffers'],
    reason: 'Node makes SharedArrayBuffers over native memory from 22.23.3, 24.16 and 26.1 on',
  },
  'their refusal': {
    places: ['Node with external SharedArrayBuffers'],
    reason:
      'this Node makes SharedArrayBuffers over native memory; older ones are tested to refuse',
  },
  Float16Array: {
    places: ['Node without Float16Array'],
    reason: 'V8 has Float16Array from Node 24 on; .ci/run tries it there',
  },
  'files without a name': {
    places: ['system without unnamedFiles'],
    reason: 'this system has no files without a name',
  },
  'sealed memory': {
    places: ['system without sealedMemory'],
    reason: 'this system has no sealed memory',
  },
  'paths of descriptors': {
    places: ['system without descriptorPaths'],
    reason: 'this system has no paths of open files',
  },
  'process start times': {
    places: ['system without processStartTimes'],
    reason: 'this system does not say when a process started',
  },
  futexes: {
    places: ['system without futexes'],
    reason:
      'this system has no futexes: only a word that changes ends a wait, and nobody counts wakes',
  },
  'the ring protocol of Linux': {
    places: ['system without futexes', 'Windows'],
    reason:
      'samebytes_ring.h and the examples in Go and Rust wait by futexes and tell processes by their start times, as Linux has them',
  },
  'ArrayBuffer.prototype.transfer': {
    places: ['Node without ArrayBuffer.prototype.transfer'],
    reason: 'buffers have transfer() from Node 22 on; .ci/run tries it there',
  },
  '/proc': {
    places: ['Windows'],
    reason: 'Windows has no /proc, where one sees what is open and mapped',
  },
  'mapped files that change': {
    places: ['Windows'],
    reason: 'Windows lets nobody delete or shorten a file that is mapped',
  },
  'permissions of files': {
    places: ['Windows'],
    reason: 'Windows has no permissions, users and links as POSIX has them',
  },
  'signals of POSIX': { places: ['Windows'], reason: 'Windows has no signals' },
  'limits of a shell': { places: ['Windows'], reason: 'Windows has no ulimit' },
  'named pipes in folders': { places: ['Windows'], reason: 'Windows has no mkfifo' },
  'a table of waiters': {
    places: ['no Windows'],
    reason: 'only on Windows samebytes itself keeps who waits for a word of shared memory',
  },
  'segments that outlive the system': {
    places: ['no Windows'],
    reason: 'only on Windows segments are still there after the system ended',
  },
  'fetch from servers': {
    places: ['Wine'],
    reason: "Node's fetch asks for TCP_KEEPIDLE, which Wine does not know: it connects to nothing",
  },
  'shared memory with a name': {
    places: ['system without segments'],
    reason: 'SharedTensor and SharedRing are not there on this system',
  },
  'buffers that stay': {
    places: ['Node without buffers that stay'],
    reason: 'no mark keeps a buffer from every transfer before Node 24',
  },
}

module.exports = { CANNOT }
