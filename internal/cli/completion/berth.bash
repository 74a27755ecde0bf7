# bash completion for berth: eval "$(berth completion bash)"

_berth() {
	# Bash cuts words at ":" and "=", which IDs have; put them together again.
	local words=() n=0 i word value about
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $n -gt 0 && ($word == [:=]* || ${words[n - 1]} == *[:=]) ]]; then
			words[n - 1]+=$word
		else
			words[n++]=$word
		fi
	done

	COMPREPLY=()
	local typed=${words[n - 1]}
	local cut=${typed%"${typed##*[:=]}"}
	while IFS=$'\t' read -r value about; do
		COMPREPLY+=("${value#"$cut"}")
	done < <(command berth __complete "${words[@]}" 2>/dev/null)
}

complete -o default -F _berth berth
