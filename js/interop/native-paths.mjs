export { include, library } from './native-paths.js'
