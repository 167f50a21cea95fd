# Prints what an interactive zsh completes the line $1 to, one match on a line. It runs in a pseudo-terminal, where `compadd`,
# with which all completion functions end, is replaced by a function that prints the matches.
zmodload zsh/zpty
zpty shell zsh -f -i
() {
  local line
  zpty -w shell source $1
  while zpty -r shell line; do [[ $line == ready* ]] && return; done
} =(<<'END'
PROMPT=
autoload -Uz compinit
compinit -u -D
source ./completion.zsh
bindkey '^I' complete-word
mark() { print -r -- '%%' }
compprefuncs=(mark)
comppostfuncs=(mark exit)
zstyle ':completion:*' insert-tab false
compadd() {
  # With -O, -A or -D, a completion function asks for matches, and adds nothing.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a matches
  builtin compadd -A matches "$@"
  (( $#matches )) && print -rl -- $matches
}
print ready
END
)
zpty -w shell "$1"$'\t'
integer marks=0
while zpty -r shell line; do
  line=${line//[$'\r\n']/}
  if [[ $line == *'%%' ]]; then (( ++marks == 2 )) && break
  elif (( marks )); then print -r -- $line
  fi
done
