# Completion of tutti for fish: tutti completion fish | source

function __tutti_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] complete -- $words[2..-1] 2> /dev/null)
    set -l kind (string split ' ' -- $answer[1])
    printf '%s\n' $answer[2..-1]
    set -l current (commandline -ct)
    set -l before (string match -r '^--[^=]*=' -- $current)
    set -l name (string replace -r '^--[^=]*=' '' -- $current)
    switch "$kind[1]"
        case files
            for file in (__fish_complete_path $name | string replace -r '\t.*' '')
                set -l ending (string replace -r '.*\.' '' -- $file)
                if test (count $kind) -eq 1; or string match -q '*/' -- $file; or contains -- $ending $kind[2..-1]
                    printf '%s%s\n' "$before" $file
                end
            end
        case folders
            for file in (__fish_complete_directories $name | string replace -r '\t.*' '')
                printf '%s%s\n' "$before" $file
            end
    end
end
complete -c tutti -f -a '(__tutti_complete)'
