#!/bin/sh
# sh snapshot.sh DIRECTORY
#
# It only reads. A source that cannot be read is named, and the others are saved; the exit status is 1 then.

directory=${1:?expected the directory to write: sh snapshot.sh DIRECTORY}
mkdir -p "$directory" || exit 1
failed=0

# save FILE COMMAND ...: the output of a command, if it succeeds.
save() {
    file=$directory/$1
    shift
    if "$@" >"$file.part"; then
        mv "$file.part" "$file"
    else
        rm -f "$file.part"
        echo "not saved: ${file##*/} ($*)" >&2
        failed=1
        return 1
    fi
}

