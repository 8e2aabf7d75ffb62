// What the types of onnxruntime-node name of TypeScript's library "dom", which a program for Node.js does not have.
interface HTMLImageElement {}
interface ImageBitmap {}
interface ImageData {}
interface WebGLRenderingContext {}
interface WebGLTexture {}
