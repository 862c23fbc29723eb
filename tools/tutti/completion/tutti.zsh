#compdef tutti
# Completion of tutti for zsh: source <(tutti completion zsh), or a file _tutti in $fpath.

_tutti() {
    local -a answer kind candidates open arguments
    local line word before
    # The words before the cursor, without their quotes and backslashes.
    arguments=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
    answer=("${(@f)$(_call_program tutti ${(q)words[1]} complete -- ${(@qq)arguments} 2> /dev/null)}")
    kind=(${=answer[1]})
    for line in "${(@)answer[2,-1]}"; do
        [[ -n "$line" ]] || continue
        word="${line%%$'\t'*}"
        if [[ "$word" == *[.=] ]]; then
            open+=("${word//:/\\:}:${line#*$'\t'}")
        else
            candidates+=("${word//:/\\:}:${line#*$'\t'}")
        fi
    done
    ((${#candidates})) && _describe -t words 'tutti' candidates
    ((${#open})) && _describe -t fields 'field' open -S ''
    # The name of a file may follow after "--log=" or "field=".
    if ((${kind[2]:-0})); then
        before="${(Q)PREFIX}"
        compset -P "*${before[kind[2]]}"
    fi
    case "${kind[1]}" in
        files)
            if ((${#kind} > 2)); then
                _files -g "*.(${(j:|:)kind[3,-1]})(-.)"
            else
                _files
            fi
            ;;
        folders) _files -/ ;;
    esac
}

if [[ "${funcstack[1]}" == "_tutti" ]]; then
    _tutti "$@"
else
    compdef _tutti tutti
fi
