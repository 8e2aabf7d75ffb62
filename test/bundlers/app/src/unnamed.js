// An import without a name, which a bundler may drop where it believes that nothing happens in the module.
import { init } from 'samebytes'
import 'samebytes/math'

await init({ math: true })
console.log('ready')
