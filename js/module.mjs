// The same class for import as for require.
export { Module } from './module.js'
