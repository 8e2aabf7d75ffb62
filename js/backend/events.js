'use strict'
// What the inspector is told: who makes tensors and copies, and who else has their bytes.

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/**
 * A listener's methods run in the middle of what they report. They must not throw.
 *
 * @typedef {object} Listener
 * @property {(tensor: any) => void} made  a tensor or a view is about to be returned by its constructor
 * @property {(reason: string, bytes: number) => void} copied  a function copied; 'staged': a temporary copy was made
 * @property {(way: string, bytes: number) => void} sent  bytes are about to be sent to another process
 * @property {(storage: Storage, role: 'sent' | 'received' | 'dlpack' | 'foreign') => void} shared  others have the bytes too: a token was made or taken, a capsule came in, an address was given
 * @property {(storage: Storage, fd: number, writes: boolean) => void} mapped  a storage maps a file
 * @property {(part: Storage, whole: Storage) => void} divided  a storage was made of some of another's bytes
 */

/** listener: null while nobody listens. */
const events = { listener: /** @type {Listener | null} */ (null) }

module.exports = { events }
