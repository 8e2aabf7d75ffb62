'use strict'
// How the memory map looks. Colours go by dtype: integers warm and green, floats blue, complex numbers violet.

/** by dtype @type {Record<string, string>} */
const COLOURS = {
  bool: '#d6457f',
  uint8: '#dd7f16',
  int8: '#c79a05',
  int16: '#8a9a14',
  uint16: '#b0663a',
  int32: '#2f9e55',
  uint32: '#5d9b3a',
  int64: '#0f9080',
  uint64: '#1d8aa8',
  float16: '#4a9cf0',
  bfloat16: '#6f83f2',
  float32: '#3267ee',
  float64: '#5340cf',
  complex64: '#a04be0',
  complex128: '#7d2fb8',
  float8_e4m3fn: '#3aa9d8',
  float8_e5m2: '#55b7c4',
}

const colours = Object.entries(COLOURS)
  .map(([dtype, colour]) => `.d-${dtype} { --c: ${colour}; }`)
  .join('\n')

const LIGHT =
  '--ground: #f5f6fa; --card: #fff; --ink: #161a2e; --dim: #626882; --faint: #8d93ab; --line: #dfe2ec; --room: #e9ebf3; --good: #0f8a5f; --shadow: 0 1px 2px #161a2e12, 0 4px 16px #161a2e0a; --lift: 0%;'
const DARK =
  '--ground: #0d101c; --card: #161b2c; --ink: #eceffa; --dim: #9aa1bd; --faint: #6c7390; --line: #2a3049; --room: #222840; --good: #3fd39c; --shadow: 0 0 0 1px #ffffff0a; --lift: 22%;'

/** @param {string} host  the selector of what it is drawn into */
const styleOf = (host) => `
${host} { ${LIGHT} color-scheme: light; --c: #8d93ab; }
@media (prefers-color-scheme: dark) { ${host} { ${DARK} color-scheme: dark; } }
${colours}
.map, .map * { box-sizing: border-box; }
.map {
  margin: 0 auto; max-width: 1440px; padding: 22px 26px 28px; color: var(--ink); background: var(--ground);
  font: 13.5px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; font-variant-numeric: tabular-nums;
}
.map h1, .map h2, .map h3, .map p, .map dl, .map dd, .map dt, .map ul, .map ol, .map figure { margin: 0; padding: 0; }
.map code, .shape, .strides, .from, .site, .axes, .facts dd, .diagram text { font-family: ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
.map header { display: flex; gap: 16px 32px; align-items: flex-end; justify-content: space-between; flex-wrap: wrap; }
.map h1 { font-size: 25px; line-height: 1.15; font-weight: 500; letter-spacing: -.02em; }
.map h1 b { font-weight: 750; } .map h1 i { font-style: normal; color: #3267ee; }
@media (prefers-color-scheme: dark) { .map h1 i { color: #6d94ff; } }
.name p { margin-top: 5px; color: var(--dim); display: flex; gap: 4px 12px; align-items: baseline; flex-wrap: wrap; }
.name code { color: var(--ink); font-size: 12.5px; }
.status { display: inline-flex; align-items: center; gap: 6px; }
.status::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: var(--faint); }
.status.good::before { background: var(--good); }
.numbers { display: flex; gap: 28px; }
.numbers div { display: flex; flex-direction: column-reverse; }
.numbers dd { font-size: 22px; line-height: 1.1; font-weight: 650; letter-spacing: -.02em; }
.numbers dt { color: var(--dim); font-size: 12px; margin-top: 2px; }
.tools { display: flex; gap: 10px 14px; align-items: center; flex-wrap: wrap; margin: 18px 0 12px; }
.tools input {
  font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 6px 10px; width: 210px;
}
.tools input::placeholder { color: var(--faint); }
.switch { display: inline-flex; background: var(--room); border-radius: 8px; padding: 2px; }
.switch button { font: inherit; border: 0; background: none; color: var(--dim); padding: 4px 10px; border-radius: 6px; cursor: pointer; }
.switch button[aria-pressed=true] { background: var(--card); color: var(--ink); box-shadow: var(--shadow); }
.legend { list-style: none; display: flex; gap: 4px 14px; flex-wrap: wrap; margin-left: auto !important; color: var(--dim); font-size: 12.5px; }
.legend li, .details h3 { display: flex; align-items: center; gap: 6px; }
.swatch { width: 10px; height: 10px; border-radius: 3px; background: color-mix(in oklab, var(--c), #fff var(--lift)); flex: none; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 400px; gap: 16px; align-items: start; }
.regions, main { display: flex; flex-direction: column; gap: 10px; }
.region, .copies, .details { background: var(--card); border-radius: 12px; box-shadow: var(--shadow); }
.region { padding: 10px 14px 9px; content-visibility: auto; contain-intrinsic-size: auto 96px; position: relative; }
.region h2, .copies h2 { display: flex; gap: 4px 8px; align-items: baseline; flex-wrap: wrap; font-size: 14px; font-weight: 650; margin-bottom: 6px; }
.region h2 .size { letter-spacing: -.01em; margin-right: 2px; }
.map em { font-style: normal; color: var(--dim); font-weight: 500; }
.kind, .owner, .tag { font: 500 11.5px/1.5 system-ui, sans-serif; border-radius: 5px; padding: 0 6px; color: var(--dim); background: var(--room); white-space: nowrap; }
.owner { color: var(--ink); background: none; box-shadow: inset 0 0 0 1px var(--line); max-width: 52%; overflow: hidden; text-overflow: ellipsis; }
.owner::before { content: "+ "; color: var(--faint); }
.region .site, .copies .site { margin-left: auto; font-weight: 400; font-size: 11.5px; color: var(--faint); }
.copies h2 .site { font-family: inherit; font-size: 12.5px; margin-left: 4px; }
.stripe {
  display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 14px; align-items: center; min-height: 23px;
  font: inherit; color: inherit; text-align: left; background: none; border: 0; padding: 2px 6px; margin: 0 -6px; width: calc(100% + 12px); border-radius: 7px; cursor: pointer;
}
.stripe:hover, .stripe[aria-pressed=true] { background: color-mix(in srgb, var(--c) 11%, transparent); }
.map :focus-visible { outline: 2px solid #3267ee; outline-offset: 1px; }
.track { display: block; min-width: 0; }
.room { display: block; width: var(--share); height: 15px; background: var(--room); border-radius: 3px; overflow: hidden; position: relative; }
.several .room { box-shadow: 2px 2px 0 -.5px var(--card), 2.5px 2.5px 0 0 var(--faint); overflow: visible; }
.bytes { display: block; width: 100%; height: 100%; border-radius: 3px; fill: color-mix(in oklab, var(--c), #fff var(--lift)); shape-rendering: crispEdges; }
.level1 { opacity: .4; } .level2 { opacity: .58; } .level3 { opacity: .78; }
.words { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12.5px; }
.words b { font-weight: 600; color: color-mix(in oklab, var(--c), var(--ink) 25%); }
@media (prefers-color-scheme: dark) { .words b { color: color-mix(in oklab, var(--c), #fff 42%); } }
.shape, .strides, .from { font-size: 12px; }
.strides { color: var(--dim); margin-left: 8px; } .strides::before { content: "strides "; font-family: system-ui, sans-serif; font-size: 11.5px; color: var(--faint); }
.tag { margin-left: 6px; font-size: 10.5px; } .tag.thread { color: var(--ink); box-shadow: inset 0 0 0 1px var(--line); background: none; } .tag.js { color: #8a6a00; background: #f7df1e40; }
@media (prefers-color-scheme: dark) { .tag.js { color: #f0dc6b; } }
.from { color: var(--faint); margin-left: 10px; } .from .call { color: var(--dim); }
.more { font: inherit; font-size: 12.5px; color: var(--dim); background: none; border: 1px solid var(--line); border-radius: 7px; padding: 3px 10px; margin-top: 5px; cursor: pointer; }
.none { color: var(--dim); padding: 6px 2px; }
.copies { padding: 14px 18px 13px; }
.copy { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.1fr) auto; gap: 1px 10px; align-items: center; font-size: 12.5px; padding: 3px 0; }
.copy b { font-weight: 600; overflow: hidden; text-overflow: ellipsis; } .copy .from { grid-column: 1 / -1; margin: 0; display: flex; flex-wrap: wrap; gap: 0 12px; }
.copy .track { background: var(--room); border-radius: 3px; height: 9px; }
.length { display: block; height: 100%; width: max(2px, var(--share)); border-radius: 3px; background: repeating-linear-gradient(-45deg, var(--dim) 0 4px, var(--faint) 4px 8px); }
.side { display: flex; flex-direction: column; gap: 10px; position: sticky; top: 14px; max-height: calc(100vh - 28px); overflow: auto; border-radius: 12px; }
.details { padding: 14px 18px 16px; } .details:empty { display: none; }
.details h3 { font-size: 15px; font-weight: 650; flex-wrap: wrap; }
.details h3 .shape { font-size: 14px; font-weight: 500; }
.details figure { margin: 12px 0 10px; }
.diagram { display: block; max-width: 100%; height: auto; overflow: visible; }
.slot { fill: color-mix(in oklab, color-mix(in oklab, var(--c), #fff var(--lift)) calc(38% + .62 * var(--order)), var(--card)); }
.diagram text { pointer-events: none; fill: var(--ink); font-size: 11px; text-anchor: middle; paint-order: stroke; stroke: color-mix(in srgb, var(--card) 70%, transparent); stroke-width: 3px; stroke-linejoin: round; }
.diagram .at { fill: var(--faint); font-size: 10px; text-anchor: end; stroke: none; }
.slot.gap { fill: none; stroke: var(--line); stroke-dasharray: 3 3; }
.slot.shared { stroke: var(--c); stroke-width: 2px; stroke-dasharray: 5 3; }
.walk { fill: none; stroke: var(--ink); stroke-opacity: .3; stroke-width: 1.6; stroke-linejoin: round; pointer-events: none; }
.details figcaption { color: var(--dim); font-size: 12px; margin-top: 7px; }
.axes { list-style: none; font-size: 12px; border-top: 1px solid var(--line); }
.axes li { display: grid; grid-template-columns: 60px 110px 1fr; gap: 8px; padding: 4px 0; border-bottom: 1px solid var(--line); }
.axes li span:first-child { color: var(--dim); }
.facts { display: grid; grid-template-columns: 74px 1fr; gap: 3px 10px; margin-top: 11px !important; font-size: 12.5px; }
.facts dt { color: var(--dim); } .facts dd { font-size: 12px; overflow-wrap: anywhere; }
@media (max-width: 1080px) {
  .columns { display: flex; flex-direction: column; align-items: stretch; }
  .side { display: contents; }
  .copies { order: 1; }
  .details { order: 2; position: sticky; bottom: 10px; overflow: auto; max-height: 46vh; box-shadow: 0 0 0 1px var(--line), 0 -6px 30px #0003; }
}
@media (max-width: 640px) { .stripe { grid-template-columns: minmax(0, 1fr); gap: 2px; } .numbers { gap: 18px; } .map { padding: 14px; } }
@media (prefers-reduced-motion: no-preference) { .bytes { transition: opacity .15s; } }
`

module.exports = { styleOf }
