# Completion of tutti for bash: source <(tutti completion bash)
# For an alias, such as alias t='tutti simulate', also run: complete -o bashdefault -F _tutti t

# Splits the command line up to the cursor into words, without their quotes and backslashes. Sets
# `words`; `cut`, the part of the last word that bash keeps, because bash replaces only the part
# after an open quote, after the last '=' or ':', or from the last '@'; and `redirected`, which is
# not empty if the last word is the target of a redirection.
_tutti_words() {
    local text="${COMP_LINE:0:COMP_POINT}" word="" started="" quote="" i c
    words=() cut="" redirected=""
    for ((i = 0; i < ${#text}; ++i)); do
        c="${text:i:1}"
        if [[ "$c" == "$quote" ]]; then
            quote=""
        elif [[ "$c" == '\' && "$quote" != "'" ]]; then
            ((++i < ${#text})) || break
            [[ "$quote" == '"' && "${text:i:1}" != [\"\$\`\\] ]] && word+='\'
            word+="${text:i:1}"
            started=yes
        elif [[ "$c" == '$' && "$quote" != "'" && "${text:i}" =~ ^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/ ]]; then
            word+="${!BASH_REMATCH[1]}"
            i=$((i + ${#BASH_REMATCH} - 2))
            started=yes
        elif [[ "$quote" ]]; then
            word+="$c"
        elif [[ "$c" == [\"\'] ]]; then
            quote="$c" cut="$word" started=yes
        elif [[ "$c" == [[:space:]\<\>] ]]; then
            if [[ "$c" == [\<\>] ]]; then
                [[ "$started" && "$word" != "&" && "$word" == *[!0-9]* ]] && words+=("$word")
                redirected=yes
            elif [[ "$started" ]]; then
                [[ "$redirected" ]] || words+=("$word")
                redirected=""
            fi
            word="" started="" cut=""
        else
            [[ "$c" == @ && "$COMP_WORDBREAKS" == *@* ]] && cut="$word"
            word+="$c" started=yes
            [[ "$c" == [=:] ]] && cut="$word"
        fi
    done
    words+=("$word")
}

_tutti() {
    local words cut redirected kind answer alias word name file found=() candidates=()
    _tutti_words
    ((${#words[@]} > 1)) || return
    local program="${words[0]}" current="${words[-1]}"
    [[ "$program" == "~/"* ]] && program="$HOME${program:1}"
    if read -ra alias <<< "${BASH_ALIASES[$program]-}" && ((${#alias[@]})); then
        words=("${alias[@]}" "${words[@]:1}")
        program="${words[0]}"
    fi
    type -P "$program" > /dev/null || program=tutti
    if [[ "$redirected" ]]; then
        kind=(files 0)
    else
        mapfile -t answer < <("$program" complete -- "${words[@]:1}" 2> /dev/null)
        ((${#answer[@]} > 0)) || return
        read -ra kind <<< "${answer[0]}"
        for word in "${answer[@]:1}"; do candidates+=("${word%%$'\t'*}"); done
    fi
    name="${current:${kind[1]-0}}"
    case "${kind[0]}" in
        files) mapfile -t found < <(compgen -f -- "$name") ;;
        folders) mapfile -t found < <(compgen -d -- "$name") ;;
    esac
    for file in "${found[@]}"; do
        if [[ -d "${file/#~\//$HOME/}" ]] || ((${#kind[@]} <= 2)) || [[ " ${kind[*]:2} " == *" ${file##*.} "* ]]; then
            candidates+=("${current:0:${kind[1]}}$file")
            # bash adds quotes to names of files, and a slash to names of folders.
            compopt -o filenames 2> /dev/null
        fi
    done
    COMPREPLY=("${candidates[@]#"$cut"}")
    # After '.', '=' and '/', the word continues.
    if ((${#COMPREPLY[@]} == 1)) && [[ "${COMPREPLY[0]}" == *[./=] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -F _tutti tutti
