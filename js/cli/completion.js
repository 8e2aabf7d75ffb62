'use strict'
// samebytes completion: a script for a shell, made from the list of commands. The script asks the program for the names of segments.
// Anybody chooses those names, so no shell evaluates them.

const { UsageError, didYouMean } = require('./arguments')
const { plain, print } = require('./output')

/** @typedef {import('./arguments').Command} Command */

const SHELLS = ['bash', 'zsh', 'fish']
const TOP = ['--help', '--version']

/** @param {string} text  in single quotes, for any of the shells */
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`

/** @param {Command} command */
const optionsOf = ({ options }) => [...Object.keys(options).map(name => `--${name}`), '--help']

/** @param {Command[]} commands @returns {string} */
function bash (commands) {
  const cases = commands.map(command => `    ${command.name}) options=${quoted(optionsOf(command).join(' '))} kind=${command.completes} ;;`)
  const choices = choiceOptions(commands).map(([name, values]) => `    ${name}) _samebytes_words ${quoted(values.join(' '))}; return ;;`)
  return `# bash completion of samebytes
_samebytes_words () {
  local word
  for word in $1; do
    case $word in "$cur"*) COMPREPLY+=("$word ") ;; esac
  done
}

_samebytes_segments () {
  local name
  while IFS= read -r name; do
    case $name in "$cur"*) COMPREPLY+=("$(printf '%q ' "$name")") ;; esac
  done < <(command samebytes ls --names 2>/dev/null)
}

_samebytes_files () {
  local name
  while IFS= read -r name; do
    if [ -d "$name" ]; then COMPREPLY+=("$(printf '%q/' "$name")"); else COMPREPLY+=("$(printf '%q ' "$name")"); fi
  done < <(compgen -f -- "$cur")
}

_samebytes () {
  local cur=\${COMP_WORDS[COMP_CWORD]} options='' kind=none
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    _samebytes_words ${quoted([...commands.map(({ name }) => name), 'help', ...TOP].join(' '))}
    return
  fi
  case \${COMP_WORDS[COMP_CWORD-1]} in
${choices.join('\n')}
    ${valueOptions(commands).join(' | ')}) return ;;
  esac
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    help) kind=commands ;;
  esac
  case $cur in
    -*) _samebytes_words "$options"; return ;;
  esac
  case $kind in
    files) _samebytes_files ;;
    segments) _samebytes_segments ;;
    both) _samebytes_files; _samebytes_segments ;;
    shells) _samebytes_words ${quoted(SHELLS.join(' '))} ;;
    commands) _samebytes_words ${quoted(commands.map(({ name }) => name).join(' '))} ;;
  esac
}
complete -o nospace -F _samebytes samebytes`
}

/** Options with a list of values. @param {Command[]} commands @returns {[string, readonly string[]][]} */
function choiceOptions (commands) {
  const found = new Map(commands.flatMap(({ options }) => Object.entries(options).flatMap(([name, { choices }]) => choices === undefined ? [] : [[`--${name}`, choices()]])))
  return /** @type {any} */ ([...found])
}

/** Options with any value. @param {Command[]} commands */
function valueOptions (commands) {
  const found = new Set(commands.flatMap(({ options }) => Object.entries(options).filter(([, { type, choices }]) => type === 'string' && choices === undefined).map(([name]) => `--${name}`)))
  return [...found]
}

/** @param {Command[]} commands @returns {string} */
function zsh (commands) {
  const known = new Map(choiceOptions(commands))
  const cases = commands.map(command => {
    const specs = Object.entries(command.options).map(([name, { text, argument }]) => {
      const choices = known.get(`--${name}`)
      const value = argument === undefined ? '' : `:${argument}:${choices === undefined ? '' : `(${choices.join(' ')})`}`
      return quoted(`--${name}[${text.replace(/[[\]:\\]/g, '\\$&')}]${value}`)
    })
    const action = { files: '*:file:_files', segments: '*:segment:_samebytes_segments', both: '*:file or segment:_samebytes_both', shells: `1:shell:(${SHELLS.join(' ')})`, none: '' }[command.completes]
    return `    ${command.name}) _arguments ${[...specs, quoted('--help[this]'), ...(action === '' ? [] : [quoted(action)])].join(' ')} ;;`
  })
  return `#compdef samebytes
# zsh completion of samebytes
_samebytes_segments () {
  local -a names
  names=(\${(f)"$(command samebytes ls --names 2>/dev/null)"})
  compadd -a names
}

_samebytes_both () {
  _files
  _samebytes_segments
}

_samebytes () {
  local -a known
  known=(
${commands.map(({ name, text }) => `    ${quoted(`${name}:${text.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command known
    compadd -- help ${TOP.join(' ')}
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
    help) _describe command known ;;
  esac
}
compdef _samebytes samebytes`
}

/** @param {Command[]} commands @returns {string} */
function fish (commands) {
  const known = new Map(choiceOptions(commands))
  const lines = ['# fish completion of samebytes', 'complete -c samebytes -f', "complete -c samebytes -n __fish_use_subcommand -l help -d 'say what there is'", "complete -c samebytes -n __fish_use_subcommand -l version -d 'print the version'"]
  for (const { name, text, options, completes } of commands) {
    lines.push(`complete -c samebytes -n __fish_use_subcommand -a ${name} -d ${quoted(text)}`)
    const when = `complete -c samebytes -n '__fish_seen_subcommand_from ${name}'`
    for (const [option, { text: about, short, argument }] of Object.entries(options)) {
      const choices = known.get(`--${option}`)
      const value = argument === undefined ? '' : ` -x${choices === undefined ? '' : ` -a ${quoted(choices.join(' '))}`}`
      lines.push(`${when} -l ${option}${short === undefined ? '' : ` -s ${short}`}${value} -d ${quoted(about)}`)
    }
    if (completes === 'files' || completes === 'both') lines.push(`${when} -F`)
    if (completes === 'segments' || completes === 'both') lines.push(`${when} -a '(command samebytes ls --names 2>/dev/null)'`)
    if (completes === 'shells') lines.push(`${when} -a ${quoted(SHELLS.join(' '))}`)
  }
  return lines.join('\n')
}

/** @param {import('./arguments').Given} given @param {Command[]} commands */
function completion ({ operands: [shell] }, commands) {
  if (!SHELLS.includes(shell)) throw new UsageError(`the shell is ${JSON.stringify(plain(shell))}; one of ${SHELLS.join(', ')} was expected${didYouMean(shell, SHELLS)}`)
  print({ bash, zsh, fish }[/** @type {'bash' | 'zsh' | 'fish'} */ (shell)](commands))
}

module.exports = { completion }
