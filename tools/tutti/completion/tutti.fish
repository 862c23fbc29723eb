# Completion of tutti for fish: tutti completion fish | source

function __tutti_complete
    # The words before the cursor, without their quotes and backslashes. fish 3.6 also lists the
    # targets of redirections, which are left out.
    set -l line (commandline -pc)
    set -l words
    for word in (commandline -opc)
        set -l target '[<>][>?&]?\s*'(string escape --style=regex -- "$word")'(\s|$)'
        string match -qr -- $target "$line"; or set -a words $word
    end
    set -l token (commandline -ct)
    set -l current (string unescape -- "$token"; or string unescape -- "$token'"; or string unescape -- "$token\""; or echo "$token")
    set -l answer ($words[1] complete -- $words[2..-1] "$current" 2> /dev/null)
    set -l kind (string split ' ' -- $answer[1])
    printf '%s\n' $answer[2..-1]
    contains -- "$kind[1]" files folders; or return
    set -l before (string sub --length $kind[2] -- "$current")
    set -l name (string sub --start (math $kind[2] + 1) -- "$current")
    set -l path (string replace -r '^~/' $HOME/ -- "$name")
    for file in (__fish_complete_path "$path" | string replace -r '\t.*' '')
        string match -q '~/*' -- "$name"; and set file (string replace -- $HOME '~' $file)
        set -l ending (string replace -r '.*\.' '' -- $file)
        if string match -q '*/' -- $file
            printf '%s%s\n' "$before" $file
        else if test $kind[1] = files; and begin; test (count $kind) -eq 2; or contains -- $ending $kind[3..-1]; end
            printf '%s%s\n' "$before" $file
        end
    end
end
complete -c tutti -f -a '(__tutti_complete)'
