'use strict'

const globals = require('globals')
const neostandard = require('neostandard')

module.exports = [
  { ignores: ['build/', 'build-asan/', 'dist/', 'types/', 'prebuilds/', 'coverage/'] },
  ...neostandard({ env: ['mocha'] }),
  ...neostandard({ env: ['browser'], files: ['examples/browser/*.mjs'] }),
  {
    files: ['test/**/*.js', 'test/**/*.mjs'],
    languageOptions: { globals: { gc: 'readonly' } }
  },
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' }
  },
  {
    files: ['test/browser/**', 'test/setup.js'],
    languageOptions: { globals: globals.browser }
  }
]
