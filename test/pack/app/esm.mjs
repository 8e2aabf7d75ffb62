import * as samebytes from 'samebytes'
import use from './body.cjs'
await use(samebytes, process.argv[2])
