// samebytes/inspect. Compiled only.
import { mapElement, memoryMap, serveMap, trace, untrace, type MapFormat, type MapServer, type MemoryMap, type Region } from 'samebytes/inspect'
import { is } from './equal.mjs'

is<MemoryMap>()(memoryMap())
is<MemoryMap>()(memoryMap({ limit: 10 }))
is<MemoryMap>()(memoryMap({ format: 'json' }))
is<string>()(memoryMap({ format: 'text' }))
is<string>()(memoryMap({ format: 'html', limit: undefined }))
// @ts-expect-error No such format.
memoryMap({ format: 'pdf' })
const format = 'text' as MapFormat
is<string | MemoryMap>()(memoryMap({ format }))

const [region]: Region[] = memoryMap().regions
const starts: number[] | undefined = region?.tensors[0]?.starts
const file: string | undefined = region?.site?.file
const server: MapServer = await serveMap({ port: 0 })
const url: string = server.url
await server.close()
// @ts-expect-error A number.
await serveMap({ port: 'any' })
mapElement({ limit: 5 }).refresh()
is<undefined>()(trace() as undefined)
untrace()
console.log(starts, file, url)
