'use strict'
// What a mocha process needs before it loads test files: `npx mocha test/api/flip.test.js` after a build, with SAMEBYTES_BACKEND
// (native by default). test/native and test/cuda use the test addon, test/cuda the fake driver, or with SAMEBYTES_TEST_CUDA=1 the machine's own.
const path = require('node:path')

const BUILD = path.join(__dirname, '..', 'build')
const has = (folder) =>
  process.argv.some((word) => word.replaceAll('\\', '/').includes(`test/${folder}`))

process.env.SAMEBYTES_BACKEND ||= 'native'
if (has('native') || has('cuda')) {
  process.env.SAMEBYTES_BINARY =
    process.env.SAMEBYTES_TEST_BINARY || path.join(BUILD, 'Release', 'samebytes_test.node')
}
if (has('cuda') && process.env.SAMEBYTES_TEST_CUDA !== '1') {
  const code = path.join(BUILD, 'fakecuda')
  Object.assign(process.env, {
    SAMEBYTES_LIBCUDA: path.join(code, 'libcuda_fake.so'),
    SAMEBYTES_CUDA_CODE: code,
    FAKECUDA_DEVICES: '2',
  })
}
