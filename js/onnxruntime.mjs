// The same for import as for require. It registers here: Node.js 20 ends a program for what a CommonJS file throws, though import() is caught.
import backend from './model/ort-backend.js'

backend.register()
