'use strict'
// Certificates for tests, by a CA of their own, in a folder of the test's.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const NEW_KEY = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes ca.pem, and NAME.pem with NAME-key.pem of each name, all for this host. @param {string} folder @param {string[]} names */
function makeCertificates(folder, names) {
  const openssl = (...args) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  openssl(
    ...NEW_KEY,
    '-x509',
    '-keyout',
    'ca-key.pem',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=ca',
  )
  fs.writeFileSync(path.join(folder, 'names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost')
  for (const name of names) {
    openssl(...NEW_KEY, '-keyout', `${name}-key.pem`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca-key.pem',
      '-CAcreateserial',
      '-out',
      `${name}.pem`,
      '-days',
      '2',
      '-extfile',
      'names',
    )
  }
}

module.exports = { makeCertificates }
