'use strict'
// What draws the memory map, in a page of its own or as an element of another one. One function that needs nothing around it,
// because pages have its text. It makes elements and text nodes only: no name of a file or function becomes markup.

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./map').Owner} Owner */

/**
 * @param {HTMLElement | ShadowRoot} root  to draw into
 * @param {MemoryMap} first
 * @param {{ coverage: typeof import('./coverage').coverage, isLive: boolean, storage?: Storage | null }} options
 * @returns {{ update: (map: MemoryMap) => void, say: (text: string, isGood: boolean) => void }}
 */
function client (root, first, { coverage, isLive }) {
  const SVG = 'http://www.w3.org/2000/svg'
  const PAGE = 100 // regions that are drawn at a time
  const ROWS = 8 // of one region, before the others are asked for
  const SLOTS = 64 // elements that the diagram has room for
  const document = root.ownerDocument
  let map = first
  let sort = 'size'
  let scale = 'log'
  let words = ''
  let most = PAGE
  /** regions whose rows are all shown @type {Set<number>} */
  const opened = new Set()
  /** the chosen row @type {string} */
  let chosen = ''
  /** what is said of it */
  let detailed = ''

  /**
   * @param {string} name
   * @param {Record<string, any>} [attributes]
   * @param {...(Node | string | null)} children
   * @returns {any}
   */
  function el (name, attributes = {}, ...children) {
    const isSvg = ['svg', 'path', 'rect', 'text', 'g', 'title', 'line', 'polyline', 'circle'].includes(name)
    const made = isSvg ? document.createElementNS(SVG, name) : document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
      else if (value !== null && value !== false) made.setAttribute(key, value === true ? '' : String(value))
    }
    for (const child of children) if (child !== null) made.append(child)
    return made
  }

  /** @param {number} n */
  function bytes (n) {
    if (n < 1024) return `${n} B`
    let i = 0
    for (n /= 1024; n >= 1023.95 && i < 5; i++) n /= 1024
    return `${n.toFixed(n < 9.95 ? 1 : 0)} ${['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][i]}B`
  }

  /** @param {number} n */
  const grouped = n => n.toLocaleString('en-US')
  /** @param {number} n @param {string} what */
  const many = (n, what) => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`
  /** @param {readonly number[]} list */
  const listed = list => `[${list.join(', ').replace(/-/g, '\u2212')}]`
  /** @param {import('./sites').Site | null} site */
  const where = site => site === null ? '' : `${site.file}:${site.line}`
  /** @param {import('./sites').Site} site */
  const shortly = site => `${site.file.split(/[\\/]/).pop()}:${site.line}`
  /** @param {number} n */
  const signed = n => n < 0 ? `\u2212${grouped(-n)}` : `+${grouped(n)}`

  /** @type {Record<Region['kind'], [name: string, meaning: string]>} */
  const KINDS = {
    v8: ['V8 heap', 'memory of JavaScript\'s own, which samebytes made'],
    js: ['yours', 'a buffer that the program gave'],
    sab: ['SharedArrayBuffer', 'memory that other threads see'],
    native: ['native', 'memory outside of JavaScript\'s heap, which other threads may see'],
    wasm: ['WASM', 'a part of WebAssembly\'s linear memory'],
    file: ['mapped file', 'a file, mapped into memory'],
    shm: ['shared memory', 'a segment that other processes see'],
    foreign: ['foreign', 'memory at an address that the program gave'],
    dlpack: ['DLPack', 'memory that another library lent'],
    pinned: ['pinned', 'page-locked memory, for devices'],
    cuda: ['GPU', 'memory of a graphics processor']
  }

  /** @param {Owner} owner */
  function ownerText ({ kind, name, count }) {
    const times = count > 1 ? ` \u00d7 ${grouped(count)}` : ''
    if (kind === 'object') return `your ${name}${times}`
    if (kind === 'file') return `file ${name}`
    if (kind === 'shm') return `/dev/shm/${name}`
    if (kind === 'native') return `lent to native code${times}`
    if (kind === 'threads') return `threads: ${name}`
    if (kind === 'record') return many(count, 'blob record')
    if (kind === 'operation') return `pending: ${name}`
    return `device ${name}`
  }

  /** @param {MappedTensors} row */
  function isRowMajor ({ shape, strides }) {
    let next = 1
    for (let d = shape.length - 1; d >= 0; d--) {
      if (shape[d] !== 1 && strides[d] !== next) return false
      next *= shape[d]
    }
    return true
  }

  /** @param {Region} region @param {MappedTensors} row */
  const keyOf = (region, row) => `${region.id}.${row.id}`

  /** @param {string} dtype */
  const hue = dtype => `d-${dtype}`

  // ---- The frame around the map ----

  const status = el('span', { class: 'status', role: 'status' })
  const program = el('code')
  const numbers = el('dl', { class: 'numbers' })
  const legend = el('ul', { class: 'legend', 'aria-label': 'Colours of dtypes' })
  const list = el('div', { class: 'regions' })
  const details = el('aside', { class: 'details', 'aria-label': 'The chosen tensor', 'aria-live': 'polite' })
  const copies = el('section', { class: 'copies', 'aria-label': 'Copies' })
  const filter = el('input', { type: 'search', placeholder: 'Filter: dtype, file, kind\u2026', 'aria-label': 'Filter', oninput: () => { words = filter.value.toLowerCase(); most = PAGE; drawList() } })
  /**
   * @param {string} label
   * @param {[value: string, name: string][]} choices
   * @param {string} now
   * @param {(value: string) => void} set
   */
  function switchOf (label, choices, now, set) {
    const buttons = choices.map(([value, name]) => el('button', {
      type: 'button',
      'aria-pressed': String(value === now),
      onclick: () => {
        set(value)
        for (const [i, button] of buttons.entries()) button.setAttribute('aria-pressed', String(choices[i][0] === value))
        drawList()
      }
    }, name))
    return el('span', { class: 'switch', role: 'group', 'aria-label': label }, ...buttons)
  }
  const frame = el('div', { class: 'map' },
    el('header', {},
      el('div', { class: 'name' }, el('h1', {}, el('b', {}, 'same', el('i', {}, 'bytes')), ' memory map'), el('p', {}, program, status)),
      numbers),
    el('div', { class: 'tools' },
      filter,
      switchOf('Order', [['size', 'Largest'], ['age', 'Newest'], ['views', 'Most shared']], sort, value => { sort = value }),
      switchOf('Scale', [['log', 'Log'], ['linear', 'Linear']], scale, value => { scale = value }),
      legend),
    el('div', { class: 'columns' }, el('main', {}, list), el('div', { class: 'side' }, details, copies)))
  frame.addEventListener('keydown', keys)
  root.append(frame)

  /** @param {KeyboardEvent} event */
  function keys (event) {
    const target = /** @type {HTMLElement} */ (event.target)
    if (event.key === '/' && target !== filter) {
      event.preventDefault()
      filter.focus()
      return
    }
    if (event.key === 'Escape' && target === filter) {
      filter.value = words = ''
      drawList()
      return
    }
    if (!target.classList.contains('stripe') || !['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) return
    const stripes = [...frame.querySelectorAll('.stripe')]
    const at = stripes.indexOf(target)
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? stripes.length - 1 : at + (event.key === 'ArrowDown' ? 1 : -1)
    const to = stripes[Math.max(0, Math.min(stripes.length - 1, next))]
    event.preventDefault()
    to.focus()
    to.scrollIntoView({ block: 'nearest' })
    choose(to.dataset.key)
  }

  // ---- Numbers and legend ----

  function drawNumbers () {
    const { totals, copied, staged } = map
    let [times, moved] = [staged.count, staged.bytes]
    for (const row of Object.values(copied)) [times, moved] = [times + row.count, moved + row.bytes]
    /** @type {[string, string, string][]} */
    const all = [
      [bytes(totals.bytes), 'on the map', 'bytes'],
      [grouped(totals.tensors), totals.tensors === 1 ? 'tensor' : 'tensors', 'tensors'],
      [grouped(totals.regions), totals.regions === 1 ? 'block' : 'blocks', 'regions'],
      [bytes(moved), times === 1 ? 'in 1 copy' : `in ${grouped(times)} copies`, 'copied']
    ]
    numbers.replaceChildren(...all.map(([value, name, id]) => el('div', { 'data-number': id }, el('dt', {}, name), el('dd', {}, value))))
    program.textContent = map.program
    const also = [map.backend, `samebytes ${map.samebytes}`, ...map.pid > 0 ? [`process ${map.pid}`] : []]
    if (totals.untraced > 0) also.push(`${many(totals.untraced, 'earlier tensor')} not shown`)
    program.title = also.join(' \u00b7 ')
    frame.querySelector('.also')?.remove()
    program.after(el('span', { class: 'also' }, also.join(' \u00b7 ')))
  }

  function drawLegend () {
    const counts = new Map()
    for (const { tensors, count } of map.regions) for (const row of tensors) counts.set(row.dtype, (counts.get(row.dtype) ?? 0) + row.count * count)
    const items = [...counts].sort((a, b) => b[1] - a[1]).map(([dtype, n]) => el('li', { class: hue(dtype), title: many(n, 'tensor') }, el('span', { class: 'swatch' }), dtype))
    legend.replaceChildren(...items)
  }

  // ---- Regions ----

  /** @param {Region} region */
  const sharersOf = region => region.tensors.reduce((n, row) => n + row.count, 0) + region.owners.length

  /** @type {Record<string, (a: Region, b: Region) => number>} */
  const ORDERS = {
    size: (a, b) => b.nbytes * b.count - a.nbytes * a.count || a.id - b.id,
    age: (a, b) => b.id - a.id,
    views: (a, b) => sharersOf(b) - sharersOf(a) || a.id - b.id
  }

  /** @param {Region} region */
  function matches ({ kind, owners, tensors, site }) {
    if (words === '') return true
    const said = [KINDS[kind]?.[0] ?? kind, kind, where(site), ...owners.map(ownerText), ...tensors.flatMap(row => [row.dtype, listed(row.shape), where(row.site), row.site?.call ?? ''])]
    return said.some(text => text.toLowerCase().includes(words))
  }

  /** @param {Region} region @param {MappedTensors} row */
  function stripeOf (region, row) {
    const { nbytes } = region
    const cells = nbytes > 0 && nbytes <= 512 ? nbytes : 256
    const filled = coverage(cells, nbytes, row)
    const paths = ['', '', '', '']
    for (let from = 0; from < cells;) {
      const level = levelOf(filled[from])
      let to = from + 1
      while (to < cells && levelOf(filled[to]) === level) to++
      if (level > 0) paths[level - 1] += `M${from} 0h${to - from}v1h${from - to}z`
      from = to
    }
    return el('svg', { class: 'bytes', viewBox: `0 0 ${cells} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      ...paths.map((d, i) => d === '' ? null : el('path', { d, class: `level${i + 1}` })))
  }

  /** @param {number} share */
  const levelOf = share => share <= 0 ? 0 : share >= 1 ? 4 : 1 + Math.floor(share * 2.9999)

  /** what was drawn last, by region: what says the same stays as it is @type {Map<number, { said: string, drawn: any }>} */
  let drawnLast = new Map()

  /** @param {Region[]} regions @param {number} largest */
  function drawRegions (regions, largest) {
    const next = new Map()
    for (const region of regions) {
      const said = JSON.stringify([region, opened.has(region.id), scale, largest])
      const last = drawnLast.get(region.id)
      next.set(region.id, last?.said === said ? last : { said, drawn: drawRegion(region, largest) })
    }
    drawnLast = next
    return [...next.values()].map(({ drawn }) => drawn)
  }

  /** @param {Region} region */
  function drawRegion (region, largest = 1) {
    const { id, count, kind, nbytes, owners, site, tensors, more } = region
    const share = scale === 'linear' ? nbytes / largest : Math.log2(1 + nbytes) / Math.log2(1 + largest)
    const [name, meaning] = KINDS[kind] ?? [kind, '']
    const rows = opened.has(id) ? tensors : tensors.slice(0, ROWS)
    const left = tensors.length - rows.length
    const made = el('section', { class: `region k-${kind}${count > 1 ? ' several' : ''}`, 'data-region': id },
      el('h2', {},
        el('span', { class: 'size' }, count > 1 ? el('em', {}, `${grouped(count)} \u00d7 `) : null, bytes(nbytes)),
        el('span', { class: 'kind', title: meaning }, name),
        ...owners.map(owner => el('span', { class: `owner o-${owner.kind}`, title: ownerText(owner) }, owner.kind === 'file' ? `file ${owner.name.split(/[\\/]/).pop()}` : ownerText(owner))),
        site === null ? null : el('span', { class: 'site' }, where(site))),
      ...rows.map(row => drawRow(region, row)),
      left > 0 ? el('button', { type: 'button', class: 'more', onclick: () => { opened.add(id); drawList() } }, `${many(left, 'more kind')} of views`) : null,
      more > 0 && left === 0 ? el('p', { class: 'none' }, `${many(more, 'smaller tensor')} ${more === 1 ? 'is' : 'are'} not on the map.`) : null)
    made.style.setProperty('--share', `${(Math.max(0.06, Math.min(1, share)) * 100).toFixed(2)}%`)
    return made
  }

  /** @param {Region} region @param {MappedTensors} row */
  function drawRow (region, row) {
    const { count, dtype, shape, strides, site, isView, isReadOnly, exposed, thread } = row
    const key = keyOf(region, row)
    const isPlain = isRowMajor(row)
    const label = `${count > 1 ? `${count} times ` : ''}${dtype} ${listed(shape)}${isPlain ? '' : `, strides ${listed(strides)}`}${site === null ? '' : `, ${site.call} at ${where(site)}`}`
    return el('button', {
      type: 'button',
      class: `stripe ${hue(dtype)}${isView ? ' view' : ''}`,
      'data-key': key,
      'aria-pressed': String(key === chosen),
      'aria-label': label,
      onclick: () => choose(key),
      onpointerenter: (/** @type {PointerEvent} */ event) => { if (event.pointerType === 'mouse') choose(key) },
      onfocus: () => choose(key)
    },
    el('span', { class: 'track' }, el('span', { class: 'room' }, stripeOf(region, row))),
    el('span', { class: 'words' },
      count > 1 ? el('em', {}, `${grouped(count)} \u00d7 `) : null,
      el('b', {}, dtype), ' ', el('span', { class: 'shape' }, listed(shape)),
      isPlain ? null : el('span', { class: 'strides', title: 'strides, in elements' }, listed(strides)),
      thread === null ? null : el('span', { class: 'tag thread' }, thread),
      isReadOnly ? el('span', { class: 'tag' }, 'read-only') : null,
      exposed > 0 ? el('span', { class: 'tag js', title: 'JavaScript has a typed array over these bytes' }, 'data') : null,
      site === null ? null : el('span', { class: 'from' }, el('span', { class: 'call' }, site.call), ` ${shortly(site)}`)))
  }

  function drawList () {
    const active = /** @type {any} */ (root).activeElement ?? document.activeElement
    const held = active?.dataset?.key
    const found = map.regions.filter(matches).sort(ORDERS[sort])
    const largest = Math.max(1, ...found.map(region => region.nbytes))
    const drawn = drawRegions(found.slice(0, most), largest)
    const left = found.length - drawn.length
    list.replaceChildren(...drawn)
    if (found.length === 0) list.append(el('p', { class: 'none' }, map.regions.length === 0 ? 'No tensors are alive.' : 'Nothing matches the filter.'))
    if (left > 0) list.append(el('button', { type: 'button', class: 'more', onclick: () => { most += PAGE; drawList() } }, `${many(left, 'more row')} of blocks`))
    if (map.more.regions > 0) list.append(el('p', { class: 'none' }, `${many(map.more.regions, 'smaller block')} of ${bytes(map.more.bytes)} with ${many(map.more.tensors, 'tensor')} ${map.more.regions === 1 ? 'is' : 'are'} not on the map.`))
    if (held !== undefined) {
      const again = list.querySelector(`[data-key="${held}"]`)
      if (again !== null) again.focus({ preventScroll: true })
    }
    if (find(chosen) === null) chosen = interesting(found)
    choose(chosen)
  }

  /** What to show before anything was chosen: a view whose strides are worth it. @param {Region[]} regions */
  function interesting (regions) {
    /** @type {((row: MappedTensors) => boolean)[]} */
    const wishes = [row => !isRowMajor(row) && row.size > 3 && row.reach[1] - row.reach[0] <= SLOTS * row.itemsize && row.strides.every(n => n !== 0), row => !isRowMajor(row) && row.size > 3, () => true]
    for (const wanted of wishes) {
      for (const region of regions) for (const row of region.tensors) if (wanted(row)) return keyOf(region, row)
    }
    return ''
  }

  /** @param {string} key */
  function find (key) {
    for (const region of map.regions) for (const row of region.tensors) if (keyOf(region, row) === key) return { region, row }
    return null
  }

  // ---- The chosen tensor ----

  /** @param {string} key */
  function choose (key) {
    chosen = key
    for (const stripe of list.querySelectorAll('.stripe')) stripe.setAttribute('aria-pressed', String(stripe.dataset.key === key))
    const found = find(key)
    const said = JSON.stringify(found)
    if (said === detailed) return
    detailed = said
    if (found === null) details.replaceChildren()
    else details.replaceChildren(...drawDetails(found.region, found.row))
  }

  /** @param {Region} region @param {MappedTensors} row */
  function drawDetails (region, row) {
    const { dtype, shape, strides, itemsize, size, starts, count, site, isReadOnly, isView, exposed } = row
    /** @type {[string, string][]} */
    const facts = [
      ['elements', grouped(size)],
      ['bytes', `${bytes(size * itemsize)}${count > 1 ? ` each, ${grouped(count)} of them` : ''}`],
      ['begins at', count > 1 ? `byte ${starts.slice(0, 4).map(grouped).join(', ')}${count > 4 ? '\u2026' : ''}` : `byte ${grouped(starts[0])} of ${grouped(region.nbytes)}`],
      ['memory', `${KINDS[region.kind]?.[1] ?? region.kind}`]
    ]
    if (region.address !== null) facts.push(['address', `0x${(BigInt(region.address) + BigInt(Math.max(0, starts[0]))).toString(16)}`])
    if (site !== null) facts.push(['made by', `${site.call === '' ? '' : `${site.call}, `}${site.file}:${site.line}:${site.column}`])
    const is = [isView ? 'a view' : 'no view', ...row.thread === null ? [] : [`of ${row.thread}`], ...isReadOnly ? ['read-only'] : [], ...exposed > 0 ? [count > 1 ? `data taken of ${grouped(exposed)}` : 'data taken by JavaScript'] : []]
    facts.push(['is', is.join(', ')])
    for (const owner of region.owners) facts.push(['also', ownerText(owner)])
    return [
      el('h3', { class: hue(dtype) }, el('span', { class: 'swatch' }), dtype, ' ', el('span', { class: 'shape' }, listed(shape))),
      diagram(row),
      el('ol', { class: 'axes', start: '0' }, ...shape.map((n, d) => el('li', {}, el('span', {}, `axis ${d}`), el('span', {}, many(n, 'element')), el('span', {}, stepText(n, strides[d], itemsize))))),
      el('dl', { class: 'facts' }, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]))
    ].filter(part => part !== null)
  }

  /** @param {number} n @param {number} stride @param {number} itemsize */
  function stepText (n, stride, itemsize) {
    if (n < 2) return 'no step'
    if (stride === 0) return '0 B: the same bytes again'
    return `${signed(stride * itemsize)} B${stride < 0 ? ': backwards' : ''}`
  }

  /**
   * Which slots of memory have which elements, of the first ones in memory.
   *
   * @param {MappedTensors} row
   */
  function slotsOf ({ shape, strides, itemsize, reach, size }) {
    const all = size === 0 ? 0 : (reach[1] - reach[0]) / itemsize
    const shownSlots = Math.min(SLOTS, all)
    /** @type {number[][]} elements by slot, as row-major order numbers them */
    const slots = Array.from({ length: shownSlots }, () => [])
    // Of the axes from each one on: the lowest and highest place they reach.
    const low = new Array(shape.length + 1).fill(0)
    const high = low.slice()
    const weight = new Array(shape.length).fill(1)
    for (let d = shape.length - 1; d >= 0; d--) {
      const far = (shape[d] - 1) * strides[d]
      low[d] = low[d + 1] + Math.min(0, far)
      high[d] = high[d + 1] + Math.max(0, far)
      if (d < shape.length - 1) weight[d] = weight[d + 1] * shape[d + 1]
    }
    let budget = 20000
    const origin = -reach[0] / itemsize
    /** @param {number} d @param {number} at @param {number} order */
    const walk = (d, at, order) => {
      if (--budget < 0) return
      if (d === shape.length) {
        if (slots[at].length < 1000) slots[at].push(order)
        return
      }
      const stride = strides[d]
      // Indices whose elements can lie inside.
      let [from, to] = [0, shape[d] - 1]
      if (stride > 0) {
        from = Math.max(from, Math.ceil((-at - high[d + 1]) / stride))
        to = Math.min(to, Math.floor((shownSlots - 1 - at - low[d + 1]) / stride))
      } else if (stride < 0) {
        from = Math.max(from, Math.ceil((at + low[d + 1] - shownSlots + 1) / -stride))
        to = Math.min(to, Math.floor((at + high[d + 1]) / -stride))
      } else if (at + high[d + 1] < 0 || at + low[d + 1] >= shownSlots) {
        return
      }
      for (let i = from; i <= to; i++) {
        if (budget < 0) return
        walk(d + 1, at + i * stride, order + i * weight[d])
      }
    }
    if (size > 0) walk(0, origin, 0)
    return { slots, all }
  }

  /** @param {MappedTensors} row */
  function diagram (row) {
    const { strides, shape, itemsize, size, dtype } = row
    if (size === 0) return el('p', { class: 'none' }, 'It has no elements.')
    const { slots, all } = slotsOf(row)
    const steps = strides.filter((n, d) => shape[d] > 1 && Math.abs(n) >= 4 && Math.abs(n) <= 16).map(Math.abs)
    const columns = Math.min(slots.length, steps.length > 0 ? Math.min(...steps) : slots.length <= 16 ? Math.max(4, slots.length) : 16)
    const rows = Math.ceil(slots.length / columns)
    const [w, h, gap, margin] = [Math.max(20, Math.min(44, 318 / columns)), 26, 3, 40]
    const orders = slots.flat().sort((a, b) => a - b)
    const rank = new Map(orders.map((order, i) => [order, i / Math.max(1, orders.length - 1)]))
    /** @type {any[]} */
    const words = []
    const cells = slots.map((elements, i) => {
      const [x, y] = [margin + (i % columns) * w, Math.floor(i / columns) * (h + gap)]
      if (i % columns === 0) words.push(el('text', { class: 'at', x: margin - 8, y: y + h / 2 + 4 }, String(row.starts[0] + row.reach[0] + i * itemsize)))
      const isShared = elements.length > 1
      const text = elements.length === 0 ? '' : isShared ? `\u00d7${elements.length >= 1000 ? '999+' : elements.length}` : String(elements[0])
      const cell = el('rect', { class: elements.length === 0 ? 'slot gap' : isShared ? 'slot shared' : 'slot', x: x + 1, y, width: w - 2, height: h, rx: 4 }, el('title', {}, titleOf(row, i, elements)))
      cell.style.setProperty('--order', `${Math.round(100 * (rank.get(elements[0]) ?? 0))}%`)
      if (text !== '' && text.length * 6.6 <= w) words.push(el('text', { x: x + w / 2, y: y + h / 2 + 4 }, text))
      return cell
    })
    const points = orders.length > 1 && orders.length <= SLOTS ? pathOf(slots, columns, w, h + gap, h, margin) : ''
    const width = margin + columns * w
    const height = rows * (h + gap) - gap
    const shared = slots.filter(elements => elements.length > 1).length
    const notes = ['numbered as they are read', all > slots.length ? `the first ${slots.length} of ${grouped(all)} places in memory` : `${many(slots.length, 'place')} in memory`, `${many(itemsize, 'byte')} each`]
    if (shared > 0) notes.push('striped: several elements share the bytes')
    if (slots.some(elements => elements.length === 0)) notes.push('empty: not its bytes')
    return el('figure', { class: hue(dtype) },
      el('svg', { class: 'diagram', viewBox: `0 -4 ${width + 4} ${height + 8}`, width: width + 4, height: height + 8, role: 'img', 'aria-label': `Which element is where: ${notes.join(', ')}` },
        ...cells,
        points === '' ? null : el('polyline', { points, class: 'walk' }),
        ...words),
      el('figcaption', {}, notes.join(' \u00b7 ')))
  }

  /**
   * A line through the places in the order of the elements.
   *
   * @param {number[][]} slots
   */
  function pathOf (slots, columns = 1, w = 1, line = 1, h = 1, margin = 0) {
    const places = slots.flatMap((elements, i) => elements.map(order => [order, i])).sort((a, b) => a[0] - b[0])
    if (places.some(([order], i) => order !== i) || places.every(([order, i]) => order === i)) return '' // not the beginning, or nothing to tell
    return places.slice(0, 48).map(([, i]) => `${margin + (i % columns) * w + w / 2},${Math.floor(i / columns) * line + h / 2}`).join(' ')
  }

  /** @param {MappedTensors} row @param {number} slot @param {number[]} elements */
  function titleOf ({ shape, itemsize, starts, reach }, slot, elements) {
    const from = starts[0] + reach[0] + slot * itemsize
    /** @param {number} order */
    const index = order => {
      const out = []
      for (let d = shape.length - 1; d >= 0; d--) {
        out.unshift(order % shape[d])
        order = Math.floor(order / shape[d])
      }
      return `[${out.join(', ')}]`
    }
    const what = elements.length === 0 ? 'no element' : `${elements.slice(0, 6).map(index).join(' ')}${elements.length > 6 ? ' \u2026' : ''}`
    return `bytes ${from} to ${from + itemsize - 1}: ${what}`
  }

  // ---- Copies ----

  function drawCopies () {
    const rows = Object.entries(map.copied).filter(([, row]) => row.count > 0)
    if (map.staged.count > 0) rows.push(['staged on the way', map.staged])
    rows.sort((a, b) => b[1].bytes - a[1].bytes)
    const largest = Math.max(1, ...rows.map(([, row]) => row.bytes))
    copies.replaceChildren(el('h2', {}, 'Copies', el('span', { class: 'site' }, rows.length === 0 ? 'none were made' : 'by what was called, and where')),
      ...rows.map(([reason, { count, bytes: n, sites }]) => {
        const bar = el('span', { class: 'length' })
        bar.style.setProperty('--share', `${(100 * n / largest).toFixed(2)}%`)
        return el('div', { class: 'copy' },
          el('b', {}, reason), el('span', { class: 'track' }, bar), el('span', { class: 'amount' }, `${bytes(n)} in ${grouped(count)}`),
          el('span', { class: 'from' }, ...sites.filter(({ site }) => site !== null).slice(0, 4).map(({ site, count }) => el('span', { title: where(site) }, `${site === null ? '' : shortly(site)}${count > 1 ? ` \u00d7 ${grouped(count)}` : ''}`))))
      }))
  }

  /** @param {MemoryMap} next */
  function update (next) {
    map = next
    drawNumbers()
    drawLegend()
    drawList()
    drawCopies()
  }

  /** @param {string} text @param {boolean} isGood */
  function say (text, isGood) {
    status.textContent = text
    status.className = `status ${isGood ? 'good' : 'over'}`
  }

  say(isLive ? 'live' : 'snapshot', isLive)
  update(first)
  return { update, say }
}

module.exports = { client }
