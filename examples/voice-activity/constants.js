'use strict'

module.exports = {
  RECORDED_RATE: 44100,
  SAMPLE_RATE: 16000, // the model's
  CONTEXT: 64, // samples of the window before, which the model wants to see again
  HOP: 512, // new samples in each window: 32 ms
}
