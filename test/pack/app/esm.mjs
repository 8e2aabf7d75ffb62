import * as samebytes from 'samebytes'
import * as math from 'samebytes/math'
import use from './body.cjs'
await use(samebytes, math, process.argv[2])
