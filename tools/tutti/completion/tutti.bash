# Completion of tutti for bash: source <(tutti completion bash)

_tutti() {
    local text="${COMP_LINE:0:COMP_POINT}" words answer kind word candidates=()
    read -ra words <<< "$text"
    [[ "$text" == *[[:space:]] ]] && words+=("")
    ((${#words[@]} > 1)) || return
    local program="${words[0]}" current="${words[-1]}"
    [[ "$program" == "~"* ]] && program="$HOME${program#"~"}"
    mapfile -t answer < <("$program" complete -- "${words[@]:1}" 2> /dev/null)
    ((${#answer[@]} > 0)) || return
    read -ra kind <<< "${answer[0]}"
    for word in "${answer[@]:1}"; do
        candidates+=("${word%%$'\t'*}")
    done
    # bash replaces only what stands behind a '=' or ':'.
    local cut="${current%"${current##*[=:]}"}"
    case "${kind[0]}" in
        files)
            local name="${current#"$cut"}" file
            while IFS= read -r file; do
                if [[ -d "$file" ]]; then
                    candidates+=("$cut$file/")
                elif ((${#kind[@]} == 1)) || [[ " ${kind[*]:1} " == *" ${file##*.} "* ]]; then
                    candidates+=("$cut$file")
                fi
            done < <(compgen -f -- "$name")
            ;;
        folders)
            while IFS= read -r file; do candidates+=("$cut$file/"); done < <(compgen -d -- "${current#"$cut"}")
            ;;
    esac
    COMPREPLY=("${candidates[@]#"$cut"}")
    # What ends so goes on.
    if ((${#COMPREPLY[@]} == 1)) && [[ "${COMPREPLY[0]}" == *[./=] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -F _tutti tutti
