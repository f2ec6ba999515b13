#!/bin/sh
# Downloads the published builds of GraphiQL and its dependencies, compresses them, and adds their licences. Run it to
# change a version, and commit the result.
set -eu

GRAPHIQL=graphiql@3.9.0
REACT=react@18.3.1
REACT_DOM=react-dom@18.3.1

cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# take <package> <file in it> <name here>
take() {
    [ -d "$work/$1" ] || {
        archive=$(cd "$work" && npm pack --silent "$1" | tail -n 1)
        mkdir "$work/$1"
        tar -xzf "$work/$archive" -C "$work/$1" --strip-components=1
    }
    case $3 in
    LICENSE*) cp "$work/$1/$2" "$3" ;;
    *) sed '/^\/\/# sourceMappingURL=/d' "$work/$1/$2" | gzip -9 -n >"$3.gz" ;;
    esac
}

take $GRAPHIQL graphiql.min.js graphiql.js
take $GRAPHIQL graphiql.min.css graphiql.css
take $GRAPHIQL LICENSE LICENSE.graphiql
take $REACT umd/react.production.min.js react.js
take $REACT LICENSE LICENSE.react
take $REACT_DOM umd/react-dom.production.min.js react-dom.js
take $REACT_DOM LICENSE LICENSE.react-dom
ls -l
