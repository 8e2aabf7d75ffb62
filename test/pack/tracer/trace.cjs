'use strict'
// Prints the files that a program takes along, as @vercel/nft finds them on a system.
//
//   node trace.cjs NFT PROGRAM PLATFORM    NFT: where the package is; from the folder of the application

const path = require('node:path')

const [nft, program, platform] = process.argv.slice(2)
const { nodeFileTrace } = require(nft)
Object.defineProperty(process, 'platform', { value: platform })
const { root } = path.parse(process.cwd())
nodeFileTrace([program], { base: root }).then(({ fileList }) =>
  console.log(JSON.stringify([...fileList].map((file) => path.relative('.', root + file)))),
)
