'use strict'
// Tests that deflate are not for pages.
module.exports = {}
