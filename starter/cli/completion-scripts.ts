/** The scripts that shells load: they ask `__complete` for what may come next, and know nothing of the commands themselves. */
export const completionScripts = {
  bash: `# Completion of headroom for bash.
_headroom() {
  local line directive='' IFS=$'\\n'
  COMPREPLY=()
  while read -r line; do
    case $line in
      :*) directive=$line ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$directive" = ':0' ] && [ "\${#COMPREPLY[@]}" -eq 0 ]; then
    local word=\${COMP_WORDS[COMP_CWORD]}
    [ "$word" = '=' ] && word=''
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _headroom headroom
`,
  zsh: `#compdef headroom
# Completion of headroom for zsh.
_headroom() {
  local line directive='' tab=$'\\t'
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :*) directive=$line ;;
      ?*) candidates+=("\${\${line%%$tab*}//:/\\\\:}:\${line#*$tab}") ;;
    esac
  done
  if (( \${#candidates} > 0 )); then
    _describe 'headroom' candidates
  elif [[ $directive == ':0' ]]; then
    _files
  fi
}
compdef _headroom headroom
# Where zsh loads this file by its name, it is the function itself the first time.
if [ "$funcstack[1]" = '_headroom' ]; then _headroom; fi
`,
  fish: `# Completion of headroom for fish.
function __headroom_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
    for line in $lines
        switch $line
            case ':0'
                test (count $lines) -eq 1; and __fish_complete_path "$current"
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c headroom -f -a '(__headroom_complete)'
`,
} as const;
