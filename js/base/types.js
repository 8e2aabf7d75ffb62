'use strict'
// Types: names of dtypes, their elements, options. Comments only; the other files import them in theirs, and tsc makes declarations
// of them. D stands for one dtype's name; a tensor of
// whatever dtype has D = any, and its values are any.

/** @typedef {object} WasmModule a WebAssembly.Module: programs without lib dom do not know that name */
/** @typedef {import('../tensor/tensor').Tensor<any>} AnyTensor */
/** @typedef {import('../backend/cuda').Stream} Stream */

// ---- Dtypes, and what goes with each ----

/**
 * By dtype: one element, as `get` gives it.
 *
 * @typedef {object} Elements
 * @property {boolean} bool
 * @property {number} uint8
 * @property {number} int8
 * @property {number} int16
 * @property {number} uint16
 * @property {number} int32
 * @property {number} uint32
 * @property {bigint} int64
 * @property {bigint} uint64
 * @property {number} float16
 * @property {number} bfloat16
 * @property {number} float32
 * @property {number} float64
 * @property {[number, number]} complex64
 * @property {[number, number]} complex128
 * @property {number} float8_e4m3fn
 * @property {number} float8_e5m2
 */

/** @typedef {keyof Elements} DtypeName the name of a dtype */

/** Float16Array where the program's lib has it, else Uint16Array. @typedef {typeof globalThis extends { Float16Array: { prototype: infer A } } ? A : Uint16Array} HalfArray */

/**
 * By dtype: the typed array that `data` gives.
 *
 * @typedef {object} Arrays
 * @property {Uint8Array} bool
 * @property {Uint8Array} uint8
 * @property {Int8Array} int8
 * @property {Int16Array} int16
 * @property {Uint16Array} uint16
 * @property {Int32Array} int32
 * @property {Uint32Array} uint32
 * @property {BigInt64Array} int64
 * @property {BigUint64Array} uint64
 * @property {HalfArray} float16
 * @property {Uint16Array} bfloat16
 * @property {Float32Array} float32
 * @property {Float64Array} float64
 * @property {Float32Array} complex64
 * @property {Float64Array} complex128
 * @property {Uint8Array} float8_e4m3fn
 * @property {Uint8Array} float8_e5m2
 */

/**
 * By what a typed array calls itself: its dtype.
 *
 * @typedef {object} ArrayDtypes
 * @property {'uint8'} Uint8Array
 * @property {'uint8'} Uint8ClampedArray
 * @property {'int8'} Int8Array
 * @property {'int16'} Int16Array
 * @property {'uint16'} Uint16Array
 * @property {'int32'} Int32Array
 * @property {'uint32'} Uint32Array
 * @property {'int64'} BigInt64Array
 * @property {'uint64'} BigUint64Array
 * @property {'float16'} Float16Array
 * @property {'float32'} Float32Array
 * @property {'float64'} Float64Array
 */

/** @template D @typedef {unknown extends D ? true : false} IsAny */
/** An axis, or axes; negative ones count from the end. @typedef {number | readonly number[]} Axes */
/** A dtype's name where options may stand as well: what is no string says nothing about D. @template {DtypeName} D @typedef {`${D}`} NameOf */
/** The dtype that was asked for, else another one; what the result is assigned to asks for none. @template D @template M @typedef {[D] extends [never] ? M : NoInfer<D>} Or */
// A conditional type here would keep compilers from taking a Tensor<A> for a Tensor<A | B>.
/** What `dtype` gives. @template {DtypeName} D @typedef {DtypeName & NameOf<D>} DtypeOf */
/** One element, as `get` gives it. @template {DtypeName} D @typedef {IsAny<D> extends true ? any : Elements[D]} ValueOf */
// What slice gives is over an ArrayBuffer: TypeScript says so from 5.7 on, and older ones have typed arrays without a parameter.
/** What `data` gives: over an ArrayBuffer unless B is known to be another. @template {DtypeName} D @template {ArrayBufferLike} [B=any] @typedef {IsAny<D> extends true ? any : [B] extends [ArrayBuffer] ? ReturnType<Arrays[D]['slice']> : Arrays[D]} DataOf */
/** What bytes of a source are in, where its type tells. @template S @typedef {IsAny<S> extends true ? any : [S] extends [SharedArrayBuffer | { readonly buffer: SharedArrayBuffer }] ? SharedArrayBuffer : any} BufferOf */
/** What `set` and `fill` take; each value must fit the dtype. @template {DtypeName} D @typedef {IsAny<D> extends true ? Value : number | bigint | boolean | (D extends 'complex64' | 'complex128' ? [number, number] : never)} InputOf */
/** Values in nested arrays, of up to 8 axes. @template V @typedef {V | V[] | V[][] | V[][][] | V[][][][] | V[][][][][] | V[][][][][][] | V[][][][][][][] | V[][][][][][][][]} NestedArray */
/** What `toArray` gives: a value for 0-d. @template {DtypeName} D @typedef {IsAny<D> extends true ? any : NestedArray<ValueOf<D>>} NestedOf */
/** Numbers of axes that a program can name. @typedef {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8} Rank */
/** Nested arrays of R axes; else R is what they are called. @template {DtypeName} D @template R @typedef {R extends Rank ? [ValueOf<D>, ValueOf<D>[], ValueOf<D>[][], ValueOf<D>[][][], ValueOf<D>[][][][], ValueOf<D>[][][][][], ValueOf<D>[][][][][][], ValueOf<D>[][][][][][][], ValueOf<D>[][][][][][][][]][R] : R} NestedAs */
/** An element, or a view of several. @template {DtypeName} D @typedef {ValueOf<D> | import('../tensor/tensor').Tensor<D>} PartOf */

/**
 * Single elements, bounds kept.
 *
 * @template {DtypeName} [D=any]
 * @typedef {object} Accessor
 * @property {(...index: number[]) => ValueOf<D>} get  the element
 * @property {(value: InputOf<D>, ...index: number[]) => void} set  writes the element; the value must fit the dtype
 */

/** What `finfo` gives. @typedef {{ bits: number, eps: number, max: number, min: number, smallestNormal: number, dtype: Floating }} FloatInfo */
/** What `iinfo` gives: bigint for 64 bits. @template {DtypeName} [D=any] @typedef {{ bits: number, min: ValueOf<D>, max: ValueOf<D>, dtype: DtypeOf<D> }} IntegerInfo */

// ---- What people pass ----

/** @typedef {number | bigint | boolean | [number, number]} Value one element; a pair is a complex number */
/** @typedef {readonly number[] | number} Shape extents; an integer is one axis */
/** @typedef {'safe' | 'same_kind' | 'unsafe'} Casting how far a cast may go: no value changes, also narrower ones of a kind, anything */
/** @typedef {'static' | 'bounded' | 'unbound'} Dynamism how far `resize` may go: nowhere, up to the capacity, beyond it */
/** @typedef {'bool' | 'signed integer' | 'unsigned integer' | 'integral' | 'real floating' | 'complex floating' | 'numeric'} DtypeKind several dtypes: 'integral' both kinds of integers, 'numeric' all but bool */
/** @typedef {'C' | 'F'} Order axes in memory: row-major, column-major */
/** @typedef {'contiguous' | 'channels_last' | 'channels_last_3d'} MemoryFormat */
/** @typedef {'cpu' | 'cuda' | `cuda:${number}`} DeviceName */
/** @typedef {{ start?: number | null, stop?: number | null, step?: number | null }} SliceRange */
/** @typedef {number | string | null | SliceRange} SliceSpec one axis: an index (drops it), '1:5', '::-1', '...', null (a new one), a range */
/** Float16Array where the program's lib has it. @typedef {typeof globalThis extends { Float16Array: { prototype: infer A } } ? A : never} Halves */
/** @typedef {{ readonly data: Uint8ClampedArray | Uint8Array | Halves, readonly width: number, readonly height: number }} Image rows of red, green, blue and alpha, a byte each, or a half float of 0 to 1 */
/** @typedef {{ min?: number | undefined, max?: number | undefined, colormap?: ArrayLike<ArrayLike<number> | AnyTensor> | AnyTensor | undefined }} ImageDataOptions of toImageData */
/** ImageData where the program's lib has it. @typedef {typeof globalThis extends { ImageData: { prototype: infer I } } ? I : { data: Uint8ClampedArray<ArrayBuffer>, width: number, height: number }} Picture */
/** A canvas where the program's lib has it. @typedef {(typeof globalThis extends { OffscreenCanvas: { prototype: infer C } } ? C : never) | (typeof globalThis extends { HTMLCanvasElement: { prototype: infer H } } ? H : never)} Canvas */
/** AbortSignal where the program's lib has it. @typedef {typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : any} Signal */
/** @template V @typedef {V | readonly V[]} OrList */
/** @template V @typedef {OrList<OrList<OrList<OrList<V>>>>} UpTo4 */
/** Values in nested lists, of up to 8 axes. @typedef {UpTo4<UpTo4<Value | ArrayBufferView | AnyTensor>>} NestedValues */
/** @typedef {NestedValues | Iterable<NestedValues>} TensorData what `tensor` makes a tensor of */
/** VideoFrame where the program's lib has it. @typedef {typeof globalThis extends { VideoFrame: { prototype: infer F } } ? F : never} Frame */
/** AudioBuffer where the program's lib has it. @typedef {typeof globalThis extends { AudioBuffer: { prototype: infer A } } ? A : never} Audio */
/** @typedef {TensorData | Image | Canvas | Audio} CopySource what `copyFrom` copies */

/** PyTorch's names of dtypes, which a record may have. @typedef {{ byte: 'uint8', char: 'int8', short: 'int16', int: 'int32', long: 'int64', half: 'float16', float: 'float32', double: 'float64', cfloat: 'complex64', cdouble: 'complex128' }} TorchNames */

/**
 * Where some bytes are, in plain words: what `toBlob` gives.
 *
 * @template {DtypeName} [D=any]
 * @typedef {object} Blob
 * @property {bigint} ptr  address of the first element; 0n without elements, and for the caller's bytes in WASM
 * @property {readonly number[]} shape
 * @property {readonly number[]} strides  elements
 * @property {DtypeOf<D>} dtype
 * @property {DeviceName} device
 * @property {number} elementSize  bytes
 * @property {import('../tensor/tensor').Tensor<D>} owner  the tensor itself
 */

/**
 * The same as others fill it in, for fromBlob.
 *
 * @typedef {object} BlobRecord
 * @property {bigint | number | null} ptr  address of the first element
 * @property {Shape} [shape]
 * @property {DtypeName | keyof TorchNames} [dtype]
 * @property {readonly number[] | null} [strides]  elements; row-major where none are given
 * @property {DeviceName | null} [device]
 * @property {number} [elementSize]  bytes
 * @property {unknown} [owner]  kept as long as the bytes are in use
 */

/** @typedef {ArrayBufferView | ArrayBufferLike | number | bigint | null | BlobRecord | Blob} BlobSource */

/** A tensor on its way between addons, which can be taken once. @typedef {object & { readonly dlpack?: never }} Capsule */

/**
 * What a consumer asks for, as in Python's protocol.
 *
 * @typedef {object} DlpackOptions
 * @property {readonly [number, number] | null | undefined} [maxVersion]  major and minor that the consumer knows; without it the capsule is legacy
 * @property {boolean | null | undefined} [copy]  true: bytes that are the consumer's alone; else nothing is copied
 * @property {readonly [number, number] | null | undefined} [dlDevice]  type and number: [1, 0], the CPU; [2, 0], cuda:0
 * @property {number | bigint | null | undefined} [stream]  of a CUDA device, that the consumer works on: 1 and 2 are the default ones, -1 leaves the order to the consumer; the CPU has none
 */

/**
 * What others know memory on a CUDA device by.
 *
 * @typedef {object} CudaArrayInterface
 * @property {number[]} shape  elements
 * @property {string} typestr  such as '<f4'
 * @property {[bigint, boolean]} data  the address on the device, 0n without elements; may it only be read?
 * @property {3} version
 * @property {number[] | null} strides  bytes; null: row-major
 * @property {number} stream  that work on it goes to; 1: the default one
 */

/**
 * What `cuda` has.
 *
 * @typedef {object} Cuda
 * @property {typeof import('../backend/cuda').isAvailable} isAvailable
 * @property {typeof import('../backend/cuda').whyNot} whyNot
 * @property {typeof import('../backend/cuda').deviceCount} deviceCount
 * @property {typeof import('../backend/cuda').properties} properties
 * @property {typeof import('../backend/cuda').synchronize} synchronize
 * @property {typeof import('../backend/cuda').memoryStats} memoryStats
 * @property {typeof import('../backend/cuda').emptyCache} emptyCache
 * @property {typeof import('../backend/cuda').Stream} Stream
 * @property {typeof import('../backend/cuda').Event} Event
 * @property {typeof import('../sharing/cuda-ipc').share} share
 * @property {typeof import('../sharing/cuda-ipc').open} open
 * @property {typeof import('../sharing/cuda-ipc').unshare} unshare
 */

/**
 * What can be asked for a capsule.
 *
 * @typedef {object} DlpackSource
 * @property {(options: { maxVersion: [number, number], stream?: number, copy?: boolean }) => Capsule} __dlpack__
 * @property {() => readonly [number, number]} [__dlpack_device__]
 */

// ---- Options ----

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} MakeOptions
 * @property {D | undefined} [dtype]
 * @property {DeviceName | undefined} [device]  'cpu' where none is given
 * @property {Dynamism | undefined} [dynamism]  'bounded' where none is given
 * @property {Order | undefined} [order]  axes in memory; the data is in logical order whatever it says
 * @property {boolean | 'sab' | 'own' | undefined} [shared]  memory that other threads may see; 'sab': in a SharedArrayBuffer. On a device
 * memory that other processes can open (cuda.share) and that outlives this one; 'own': in an allocation of its own
 * @property {boolean | undefined} [pinMemory]  page-locked memory of the CPU's, which CUDA devices see and copy faster
 */

/** @template {DtypeName} [D=any] @typedef {MakeOptions<D> & { casting?: Casting | undefined }} TensorOptions casting: of the dtype of a typed array, a tensor or a list of those; 'same_kind' where none is given */
/** @template {DtypeName} [D=any] @typedef {MakeOptions<D> & { dtype: D, copy?: boolean | 'if-needed' | undefined }} BytesOptions copy: true where nothing is given */
/** @template {DtypeName} [D=any] @typedef {MakeOptions<D> & { generator?: import('../tensor/random').Generator | undefined }} RandomOptions generator: the shared one where none is given (manualSeed) */
/** @template {DtypeName} [D=any] @typedef {RandomOptions<D> & { out?: import('../tensor/tensor').Tensor<D> | undefined }} DrawOptions out: gets the numbers, and is returned */
/** @template {DtypeName} [D=any] @typedef {MakeOptions<D> & { endpoint?: boolean | undefined }} LinspaceOptions endpoint: is stop the last number? true where nothing is given */
/** @template {DtypeName} [D=any] @typedef {MakeOptions<D> & { k?: number | undefined }} EyeOptions k: the diagonal, 0 in the middle, above it positive */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} AsarrayOptions
 * @property {D | undefined} [dtype]
 * @property {DeviceName | undefined} [device]
 * @property {Order | undefined} [order]
 * @property {boolean | undefined} [copy]  true always copies, false never
 * @property {Casting | undefined} [casting]
 * @property {Dynamism | undefined} [dynamism]  of what is made
 * @property {boolean | undefined} [pinMemory]
 */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} BlobOptions
 * @property {D | undefined} [dtype]  needed for buffers, DataViews and addresses; reinterprets Uint8Arrays
 * @property {readonly number[] | undefined} [strides]  elements; any that stay inside
 * @property {readonly number[] | undefined} [dimOrder]  axes from outermost to innermost in memory
 * @property {number | undefined} [offset]  elements from the source's first byte
 * @property {number | undefined} [nbytes]  of an address: lets the extent be checked
 * @property {unknown} [owner]  kept as long as the bytes are in use
 * @property {((address: bigint) => void) | undefined} [deleter]  called once, on a later turn, when nobody uses the bytes
 * @property {boolean | undefined} [borrowed]  the caller vouches for an address
 * @property {boolean | undefined} [transfer]  takes the caller's ArrayBuffer over
 * @property {boolean | undefined} [readOnly]
 * @property {Dynamism | undefined} [dynamism]  'unbound' cannot grow beyond the blob either
 * @property {DeviceName | undefined} [device]
 */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} ViewOptions
 * @property {readonly number[] | undefined} [strides]  elements; any inside the tensor's bytes
 * @property {readonly number[] | undefined} [dimOrder]  axes from outermost to innermost in memory
 * @property {D | undefined} [dtype]  the bytes read as another dtype
 * @property {number | undefined} [offset]  elements from the tensor's first one
 */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} ResultOptions
 * @property {D | undefined} [dtype]
 * @property {Casting | undefined} [casting]
 * @property {import('../tensor/tensor').Tensor<D> | undefined} [out]  gets the result, and is returned
 */

/**
 * Options of arithmetic.
 *
 * @template {DtypeName} [D=any]
 * @template {DtypeName} [O=any]
 * @typedef {object} MathOptions
 * @property {D | undefined} [dtype]  operands are converted to it first
 * @property {Casting | undefined} [casting]  of the result to out's dtype; 'same_kind' where none is given
 * @property {import('../tensor/tensor').Tensor<O> | undefined} [out]  of the result's shape; gets the result, and is returned; may be an operand
 */

/** @template {DtypeName} [D=any] @template {DtypeName} [O=any] @typedef {MathOptions<D, O> & { signal?: Signal | undefined }} LaterOptions signal: cancels it; then an out may be written in part */
/** @template {DtypeName} [D=any] @typedef {ResultOptions<D> & { device?: DeviceName | undefined, copy?: boolean | undefined }} ToOptions copy: also where nothing would change */
/** @template {DtypeName} [D=any] @typedef {{ dtype?: D | undefined, ndim?: number | undefined }} AccessorOptions what a caller relies on */
/** @template {DtypeName} [D=any] @typedef {ToOptions<D> & { signal?: Signal | undefined }} ToAsyncOptions */
/** @template {DtypeName} [D=any] @typedef {ResultOptions<D> & { axis?: number | null | undefined }} AxisOptions */
/** @template {DtypeName} [D=any] @typedef {ResultOptions<D> & { axis?: number | undefined }} AlongOptions axis: the last one where none is given */
/** @template {DtypeName} [D=any] @typedef {ResultOptions<D> & { k?: number | undefined }} TriangleOptions k: the diagonal, 0 in the middle, above it positive */
/** @typedef {{ indexing?: 'xy' | 'ij' | undefined }} GridOptions 'xy' where nothing is given: the first tensor runs along the second axis, the second one along the first */
/** @template {DtypeName} [D=any] @typedef {ResultOptions<D> & { axis?: number | readonly number[] | null | undefined }} RollOptions */

/**
 * @typedef {object} CopyOptions
 * @property {Casting | undefined} [casting]
 * @property {number | ArrayLike<number> | AnyTensor | undefined} [scale]  x * scale + bias is written: one number, or one per index of the target's axis
 * @property {number | ArrayLike<number> | AnyTensor | undefined} [bias]
 * @property {number | undefined} [axis]  of the target
 * @property {Stream | bigint | number | undefined} [stream]  of a CUDA device; a number: another library's
 */

/** @typedef {CopyOptions & { signal?: Signal | undefined }} CopyAsyncOptions signal: where it aborts before all is settled, what was copied so far stays */
/** @typedef {{ rtol?: number | undefined, atol?: number | undefined, equalNaN?: boolean | undefined }} CloseOptions */
/** @typedef {{ equalNaN?: boolean | undefined }} EqualOptions equalNaN: NaN equals NaN */

// ---- Which dtype comes out ----

/** The values at the bottom of nested lists. @template T @typedef {T extends import('../tensor/tensor').Tensor<infer D extends DtypeName> ? ValueOf<D> : T extends Iterable<infer E> ? LeafOf<E> : T} LeafOf */
/** What a list's values are made: bigints are looked for first. @template L @typedef {[L] extends [never] ? 'float32' : L extends boolean ? 'bool' : L extends bigint ? 'int64' : 'float32'} DtypeOfLeaf */
/** A typed array, with the name of its kind. @template N @typedef {{ readonly [Symbol.toStringTag]: N }} Tagged */
/** The dtypes of the tensors and typed arrays in nested lists. @template T @typedef {T extends import('../tensor/tensor').Tensor<infer D extends DtypeName> ? D : T extends Tagged<infer N extends keyof ArrayDtypes> ? ArrayDtypes[N] : T extends Iterable<infer E> ? DtypeInLists<E> : never} DtypeInLists */
/** What stands in nested lists beside those. @template T @typedef {T extends AnyTensor | Tagged<keyof ArrayDtypes> ? never : T extends Iterable<infer E> ? OthersInLists<E> : T} OthersInLists */
/** A list of tensors and typed arrays keeps their dtype; any where there are several, or integers with numbers beside them. @template T @typedef {[DtypeInLists<T>] extends [never] ? DtypeOfLeaf<LeafOf<T>> : IsAny<DtypeInLists<T>> extends true ? any : true extends IsUnion<DtypeInLists<T>> ? any : [OthersInLists<T>] extends [never] ? DtypeInLists<T> : DtypeInLists<T> extends Floating ? DtypeInLists<T> : any} DtypeOfList */
/** A tensor's or typed array's dtype; any where it has none. @template T @typedef {T extends import('../tensor/tensor').Tensor<infer D extends DtypeName> ? D : T extends Tagged<infer N extends keyof ArrayDtypes> ? ArrayDtypes[N] : any} DtypeOfBytes */
/** What `tensor` makes of data. @template T @typedef {IsAny<T> extends true ? any : T extends AnyTensor | ArrayBufferView ? DtypeOfBytes<T> : T extends Iterable<any> | Value ? DtypeOfList<T> : any} DtypeOfData */
/** What `full` makes of a value. @template V @typedef {IsAny<V> extends true ? any : V extends readonly any[] ? 'complex64' : DtypeOfLeaf<V>} DtypeOfValue */
/** What `fromBlob` takes a source for. @template S @typedef {IsAny<S> extends true ? any : S extends { ptr: any, dtype: infer N } ? (N extends keyof TorchNames ? TorchNames[N] : N extends DtypeName ? N : any) : DtypeOfBytes<S>} DtypeOfSource */
/** What `arange` makes of numbers: whole ones are known from literals. @template N @typedef {IsAny<N> extends true ? any : [Extract<N, bigint>] extends [never] ? (number extends N ? 'int32' | 'float32' : `${N & number}` extends `${bigint}` ? 'int32' : 'float32') : 'int64'} DtypeOfRange */
/** What `randint` makes of its bounds. @template N @typedef {IsAny<N> extends true ? any : [Extract<N, bigint>] extends [never] ? 'int32' : 'int64'} DtypeOfBounds */

/** @typedef {'uint8' | 'uint16' | 'uint32' | 'uint64'} Unsigned */
/** @typedef {'int8' | 'int16' | 'int32' | 'int64'} Signed */
/** @typedef {'complex64' | 'complex128'} Complex */
/** @typedef {Exclude<DtypeName, 'bool' | Unsigned | Signed | Complex>} Floating */

/** @typedef {'float16' | 'bfloat16' | 'float32' | 'float64'} RandomFloating what rand and randn make */
/** @typedef {'bool' | Signed | Unsigned} RandomInteger what randint makes */

/** The wider of two integers of one sign. @template U @typedef {'uint64' extends U ? 'uint64' : 'int64' extends U ? 'int64' : 'uint32' extends U ? 'uint32' : 'int32' extends U ? 'int32' : 'uint16' extends U ? 'uint16' : 'int16'} Wider */
/** Integers of two signs. @template S @template U @typedef {U extends 'uint64' ? 'float64' : U extends 'uint32' ? 'int64' : S extends 'int64' ? 'int64' : U extends 'uint16' ? 'int32' : S extends 'int32' ? 'int32' : 'int16'} Mixed */
/** Two floats. @template U @typedef {'float64' extends U ? 'float64' : 'float32' extends U ? 'float32' : 'float16' extends U ? ('bfloat16' extends U ? 'float32' : 'float16') : 'bfloat16' extends U ? 'bfloat16' : 'float16'} Finer */
/** @template A @template B @typedef {A extends Unsigned ? (B extends Unsigned ? Wider<A | B> : Mixed<B, A>) : B extends Unsigned ? Mixed<A, B> : Wider<A | B>} PromoteIntegers */
/** @template A @template B @typedef {A extends Floating ? (B extends Floating ? Finer<A | B> : A) : B extends Floating ? B : PromoteIntegers<A, B>} PromoteReals */
/** @template A @template B @typedef {'complex128' extends A | B ? 'complex128' : 'float64' extends A | B ? 'complex128' : 'complex64'} PromoteComplex */
/** @template A @template B @typedef {A extends B ? A : A extends 'bool' ? B : B extends 'bool' ? A : [Extract<A | B, Complex>] extends [never] ? PromoteReals<A, B> : PromoteComplex<A, B>} PromotePair */

/**
 * The dtype in which two meet: promoteTypes' rules. By `infer R` compilers see that it is a dtype without going through all pairs, which took them 15 seconds.
 *
 * @template A
 * @template B
 * @typedef {(IsAny<A> extends true ? any : IsAny<B> extends true ? any : A extends DtypeName ? (B extends DtypeName ? PromotePair<A, B> : never) : never) extends infer R extends DtypeName ? R : never} Promote
 */

/** What float functions of a dtype give. @template D @typedef {IsAny<D> extends true ? any : D extends Signed | Unsigned | 'bool' ? 'float32' : D} Floated */
/** What sums and products of a dtype give. @template D @typedef {IsAny<D> extends true ? any : D extends Signed | 'bool' ? 'int64' : D extends Unsigned ? 'uint64' : D} Summed */
/** The dtype of a number's parts. @template D @typedef {IsAny<D> extends true ? any : D extends 'complex64' ? 'float32' : D extends 'complex128' ? 'float64' : D} RealOf */

/** @template U @template [V=U] @typedef {[U] extends [never] ? false : U extends any ? ([V] extends [U] ? false : true) : never} IsUnion */

/** T where D is one dtype, also one that a caller's own function does not know; nothing where D is one of several. @template D @template T @typedef {true extends IsUnion<D> ? never : T} OfOne */

/**
 * The dtype of several tensors together; any where a list does not tell how many of each dtype it has.
 *
 * @template L
 * @template [A=never] of those before
 * @typedef {L extends readonly [import('../tensor/tensor').Tensor<infer B extends DtypeName>, ...infer R] ? Joined<R, [A] extends [never] ? B : Promote<A, B>>
 *   : L extends readonly [] ? A
 *   : L extends readonly import('../tensor/tensor').Tensor<infer D extends DtypeName>[] ? (IsAny<D> extends true ? any : true extends IsUnion<D> ? any : D) : any} Joined
 */

module.exports = {}
