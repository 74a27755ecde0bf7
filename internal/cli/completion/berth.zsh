#compdef berth
# zsh completion for berth: eval "$(berth completion zsh)", or save it as _berth in a directory of $fpath

_berth() {
	local -a lines choices
	local line value
	lines=("${(@f)$(command berth __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	for line in $lines; do
		value=${line%%$'\t'*}
		choices+=("${value//:/\\:}:${line#*$'\t'}")
	done
	if (( $#choices )); then
		_describe berth choices
	else
		_files
	fi
}

if [[ $funcstack[1] == _berth ]]; then
	_berth "$@"
else
	compdef _berth berth
fi
