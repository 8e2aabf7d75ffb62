// Assertions on types: they say nothing at run time.

/** Are two types the same, any being like nothing but itself? */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

/** Fails to compile unless it is given true. */
export type Expect<T extends true> = T

/** Takes a value of exactly type T: is<number>()(t.item()). */
export declare function is<T> (): <U>(value: U, ...same: Equal<T, U> extends true ? [] : [never]) => void

/** A typed array over an ArrayBuffer; before TypeScript 5.7 the same as any. */
export type Owned<A extends { slice (): unknown }> = ReturnType<A['slice']>
