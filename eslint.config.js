'use strict'

const globals = require('globals')
const neostandard = require('neostandard')

module.exports = [
  {
    ignores: [
      'build/',
      'build-asan/',
      'build-generic/',
      'build-win32/',
      'dist/',
      'types/',
      'prebuilds/',
      'coverage/',
      'docs/.vitepress/dist/',
      'docs/.vitepress/cache/',
    ],
  },
  ...neostandard({ env: ['mocha'], noStyle: true }),
  ...neostandard({ env: ['browser'], files: ['examples/browser/*.mjs'], noStyle: true }),
  {
    files: ['docs/.vitepress/**'],
    languageOptions: { sourceType: 'module', globals: globals.browser },
  },
  {
    files: ['test/**/*.js', 'test/**/*.mjs'],
    languageOptions: { globals: { gc: 'readonly' } },
  },
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' },
  },
  {
    files: ['test/browser/**', 'test/setup.js'],
    languageOptions: { globals: globals.browser },
  },
  {
    files: ['test/bundlers/app/**'],
    languageOptions: {
      globals: {
        window: 'readonly',
        location: 'readonly',
        crossOriginIsolated: 'readonly',
        Worker: 'readonly',
        addEventListener: 'readonly',
        postMessage: 'readonly',
        expect: 'readonly',
      },
    },
  },
  {
    files: ['test/bundlers/app/{react,src,vitest,vitest-failing}/*.js'],
    languageOptions: { sourceType: 'module' },
  },
  {
    files: ['js/**/*.js', 'js/**/*.mjs'],
    plugins: { samebytes: { rules: { layers: require('./scripts/layers') } } },
    rules: { 'samebytes/layers': 'error' },
  },
]
