# fish completion for berth: berth completion fish > ~/.config/fish/completions/berth.fish

function __berth_complete
    set -l words (commandline -opc) (commandline -ct)
    command berth __complete $words[2..] 2>/dev/null
end

complete -c berth -a '(__berth_complete)'
