'use strict'
throw new Error("a page has the package's bundle, not its files") // tests of these files are skipped there
