#!/bin/sh
# Writes geist-latin.woff2: Geist's Latin letters with the weights (400 to 700) and features that the page uses, a third
# smaller than the published file. Run it after an update of @fontsource-variable/geist. Needs `pip install fonttools brotli`.
set -eu
cd "$(dirname "$0")"
published=../node_modules/@fontsource-variable/geist
letters=$(sed -n '/geist-latin-wght-normal/,/}/s/ *unicode-range: \(.*\);/\1/p' "$published/wght.css")
fonttools varLib.instancer -q "$published/files/geist-latin-wght-normal.woff2" wght=400:700 -o weights.woff2
pyftsubset weights.woff2 --unicodes="$letters" --name-IDs=0,1,2,13,14 --no-hinting --flavor=woff2 \
    --layout-features=kern,liga,calt,ccmp,locl,mark,mkmk,case,tnum,zero --output-file=geist-latin.woff2
rm weights.woff2
